/** Key poses: those that are given in amber, first and last in grey; dragged in space, and in time on the timeline. */

import { AMBER } from "../colours";
import type { Motion, PoseGoal } from "../messages";
import type { Context, GhostOverlay, Place } from "../types";
import type { Way } from "./physicsway";

const GIVEN = "#98a1af";

export interface PoseScene {
  poses: readonly PoseGoal[];
  /** The motion whose frames show the poses, and the first of them that is taken. */
  subject: Motion;
  first: number;
  last: number;
  /** Of the motion on the stage. */
  way: Way;
  motion: Motion;
  /** Hips of the subject by frame. */
  recorded: Way;
  /** Whether the last pose is turned, so that the recorded one is not it. */
  turned: boolean;
}

export interface PoseHooks {
  change(label: string, poses: PoseGoal[], done: boolean): void;
}

export class PhysicsPoses {
  private ghosts: { key: string; overlay: GhostOverlay }[] = [];
  private scene: PoseScene | null = null;
  private visible = false;

  constructor(
    private readonly context: Context,
    private readonly hooks: PoseHooks,
  ) {}

  show(visible: boolean): void {
    this.visible = visible;
    this.draw();
  }

  set(scene: PoseScene | null): void {
    this.scene = scene;
    this.draw();
  }

  /** The pose that the motion as it was has where the time is now. */
  add(): void {
    const { scene } = this;
    const { player } = this.context.stage;
    if (!scene) return;
    const share = player.frame / Math.max(player.frames - 1, 1);
    const frame = Math.round(share * (scene.last - scene.first));
    const at_s = rounded(Math.min(Math.max(player.frame, 1), player.frames - 2) / player.fps);
    this.tell("Add a key pose", [...scene.poses, { at_s, pose: { frame } }]);
  }

  private draw(): void {
    const { timeline, stage } = this.context;
    const scene = this.visible ? this.scene : null;
    const wanted = scene ? this.wanted(scene) : [];
    // Ghosts stay while they show the same frame of the same motion.
    const kept = new Map(this.ghosts.map((one) => [one.key, one.overlay]));
    this.ghosts = wanted.map(({ key, frame, floor, colour, pose }) => {
      const overlay = kept.get(key) ?? stage.addGhost(scene!.subject.id, frame, { colour });
      kept.delete(key);
      overlay.update(frame, floor, { colour });
      overlay.draggable(pose === null ? null : this.drag(pose));
      return { key, overlay };
    });
    for (const overlay of kept.values()) overlay.remove();
    if (!this.visible) return;
    timeline.setMarkers(
      (scene?.poses ?? []).map((pose, k) => ({
        frame: pose.at_s! * scene!.motion.fps,
        label: `Key pose ${k + 1}, frame ${pose.pose.frame ?? 0} of the motion`,
        colour: AMBER,
        move: (frame: number, done: boolean) => this.change(k, { at_s: rounded(Math.max(frame, 1) / scene!.motion.fps) }, "Show a pose at another time", done),
        remove: () => this.tell("Free a key pose", scene!.poses.filter((_, n) => n !== k)),
      })),
    );
  }

  private wanted(scene: PoseScene) {
    const { poses, way, recorded, subject, motion } = scene;
    const hips = (frame: number) => recorded.hips[Math.min(Math.max(frame, 0), recorded.hips.length - 1)]!;
    const shift = (to: readonly number[], from: readonly number[]) => ({ yaw: 0, x: to[0]! - from[0]!, z: to[2]! - from[2]! });
    const span = scene.last - scene.first;
    const ends = [
      { key: `first ${subject.id} ${scene.first}`, frame: scene.first, floor: shift(way.hips[0]!, hips(0)), colour: GIVEN, pose: null },
      { key: `last ${subject.id} ${scene.last}`, frame: scene.last, floor: shift(way.hips.at(-1)!, hips(span)), colour: GIVEN, pose: null },
    ];
    const between = poses.map((pose, k) => {
      const at = Math.min(Math.max(Math.round(pose.at_s! * motion.fps), 0), way.hips.length - 1);
      const frame = pose.pose.frame ?? 0;
      const place = placeOf(pose) ?? way.hips[at]!;
      return { key: `pose ${k} ${subject.id}`, frame: scene.first + frame, floor: shift(place, hips(frame)), colour: AMBER, pose: k };
    });
    return [...(scene.turned ? ends.slice(0, 1) : ends), ...between];
  }

  private drag(k: number) {
    let to: Partial<PoseGoal> = {};
    const move = (at: Place) => {
      if (!this.scene) return;
      const { way, motion, poses } = this.scene;
      const now = Math.min(Math.max(Math.round(poses[k]!.at_s! * motion.fps), 0), way.hips.length - 1);
      to = { place: [rounded(at.x), rounded(at.z)], height_m: poses[k]!.height_m ?? way.hips[now]![1] };
      this.change(k, to, "Move a key pose", false);
    };
    return {
      label: "Drag where the body is in this pose",
      move,
      end: () => this.change(k, to, "Move a key pose", true),
      remove: () => this.scene && this.tell("Free a key pose", this.scene.poses.filter((_, n) => n !== k)),
    };
  }

  private change(k: number, to: Partial<PoseGoal>, label: string, done: boolean): void {
    const poses = this.scene!.poses.map((pose, n) => (n === k ? { ...pose, ...to } : pose));
    if (!done) this.set({ ...this.scene!, poses });
    this.tell(label, poses, done);
  }

  private tell(label: string, poses: readonly PoseGoal[], done = true): void {
    const sorted = done ? [...poses].sort((a, b) => a.at_s! - b.at_s!) : [...poses];
    this.hooks.change(label, structuredClone(sorted) as PoseGoal[], done);
  }
}

const placeOf = ({ place }: PoseGoal): [number, number, number] | null => (place ? [place[0], 0, place[1]] : null);
const rounded = (value: number): number => Math.round(1000 * value) / 1000;
