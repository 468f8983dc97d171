/** Keyframes posed by hand: joints of the figure are pulled in the view, and the body follows. */

import { AMBER } from "../colours";
import type { CompleteRequest, PoseGoal } from "../messages";
import type { LiveOverlay, Place, Stage } from "../types";
import { goalsOf, isPlace, isPose } from "./completedraft";
import { Pool } from "./solvepool";
import { takePointer } from "./takepointer";

const GHOST = 0.3;
/** Two times are the same if they are less apart, seconds. */
const SAME_S = 0.02;

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

/** The key poses of a request that were posed by hand; they stand behind those of clips. */
export const posedOf = (request: CompleteRequest): PoseGoal[] =>
  goalsOf(request).filter(isPose).filter(({ pose }) => (pose.rotations?.length ?? 0) > 0);

/** A row of frames (root x, y, z, then x, y, z, w of each joint) as a key pose. */
export function poseOf(row: ArrayLike<number>, at_s: number): PoseGoal {
  const rotations: [number, number, number, number][] = [];
  for (let k = 3; k < row.length; k += 4) {
    const [x, y, z, w] = [row[k]!, row[k + 1]!, row[k + 2]!, row[k + 3]!].map((value) => rounded(value, 5));
    rotations.push([w!, x!, y!, z!]);
  }
  const root: [number, number, number] = [rounded(row[0]!, 4), rounded(row[1]!, 4), rounded(row[2]!, 4)];
  return { at_s, pose: { root, rotations }, as_recorded: true };
}

/** The same as a row of frames. */
export function rowOf({ pose }: PoseGoal): Float32Array {
  const turns = (pose.rotations ?? []).flatMap(([w, x, y, z]) => [x, y, z, w]);
  return Float32Array.from([...(pose.root ?? [0, 0, 0]), ...turns]);
}

/** The request with this pose as its key pose at that time, whatever was there, and which of its goals it is. */
export function withPose(request: CompleteRequest, pose: PoseGoal): number {
  // Where the body is at that time is part of the pose.
  const isThen = (at_s: number | null | undefined) => Math.abs((at_s ?? -1) - pose.at_s!) <= SAME_S;
  const others = goalsOf(request).filter((goal) => !((isPose(goal) || isPlace(goal)) && isThen(goal.at_s)));
  const own = [...posedOf({ goals: others }), pose].sort((a, b) => a.at_s! - b.at_s!);
  request.goals = [...others.filter((goal) => !own.includes(goal as PoseGoal)), ...own];
  return request.goals.indexOf(pose);
}

export interface PullHooks {
  /** A joint was taken hold of. */
  start(joint: string): void;
  /** It is to be here. */
  move(joint: string, to: Place): void;
  end(joint: string): void;
}

/** Takes hold of joints of the figure and pulls them in the plane that faces the camera. */
export class JointPuller {
  active = false;
  private readonly pool: Pool;
  private held: { joint: string; from: Place; offset: Place } | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly hooks: PullHooks,
  ) {
    this.pool = new Pool(stage);
    takePointer(stage, { down: (event) => this.down(event), move: (event) => this.move(event), up: () => this.up() });
  }

  private down(event: PointerEvent): boolean {
    const found = this.active ? this.stage.pickJoint(event) : null;
    const from = found && this.stage.jointAt(found.motion, found.joint, this.stage.player.frame);
    if (!found || !from) return false;
    this.stage.player.pause();
    const hit = this.stage.facing(event, from) ?? from;
    this.held = { joint: found.name, from, offset: { x: from.x - hit.x, y: from.y - hit.y, z: from.z - hit.z } };
    this.hooks.start(found.name);
    this.draw(from);
    return true;
  }

  private move(event: PointerEvent): void {
    const { joint, from, offset } = this.held!;
    const hit = this.stage.facing(event, from);
    if (!hit) return;
    const to = { x: hit.x + offset.x, y: Math.max(0, hit.y + offset.y), z: hit.z + offset.z };
    this.draw(to);
    this.hooks.move(joint, to);
  }

  private up(): void {
    const { joint } = this.held!;
    this.held = null;
    this.pool.redraw(() => undefined);
    this.hooks.end(joint);
  }

  private draw(at: Place): void {
    this.pool.redraw(() => this.pool.sphere("held", [at.x, at.y, at.z], { colour: AMBER, radius: 0.05 }));
  }
}

/** Posed keyframes as ghosts. */
export class PosedGhosts {
  private readonly pool: Pool;

  constructor(private readonly stage: Stage) {
    this.pool = new Pool(stage);
  }

  draw(request: CompleteRequest, visible: boolean): void {
    const skeleton = this.stage.shown[0]?.skeleton;
    this.pool.redraw(() => {
      if (!visible || !skeleton) return;
      for (const [k, pose] of posedOf(request).entries()) {
        const row = rowOf(pose);
        this.pool
          .take<LiveOverlay>(`posed ${k} ${skeleton}`, () => this.stage.addLive(skeleton, AMBER, GHOST), () => undefined)
          .update(row);
        this.pool.text(`posed ${k} name`, [row[0]!, 1.95, row[2]!], `Pose, ${pose.at_s} s`, AMBER);
      }
    });
  }
}
