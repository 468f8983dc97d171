/** Handles of a jump on the stage: its end is dragged farther, its apex higher, an arrow at its end turns it. */

import { AMBER, TEAL } from "../colours";
import type { DragHooks, Stage } from "../types";
import { type Way, wrapped } from "./physicsway";
import { Pool } from "./solvepool";

export type Place3 = [number, number, number];

/** What the handles say. */
export interface Changes {
  farther_m: number;
  higher_m: number;
  turn_deg: number;
}

/** Within what a request may be. */
const LIMITS: Record<keyof Changes, [number, number]> = { farther_m: [-20, 20], higher_m: [-2, 3], turn_deg: [-720, 720] };
const NAMES: Record<keyof Changes, string> = { farther_m: "Go farther", higher_m: "Rise higher", turn_deg: "Turn" };
const ARROW_M = 0.6;
/** Between the end and the tip of its arrow, so that both can be pressed. */
const TIP_M = ARROW_M + 0.05;

export interface HandleHooks {
  /** It is dragged; with `done` it was let go. */
  change(label: string, field: keyof Changes, value: number, done: boolean): void;
}

export class PhysicsHandles {
  private readonly pool: Pool;
  /** What is on the stage, the direction of the motion as it was, and which changes it has. */
  private scene: { way: Way; ahead: [number, number]; made: Changes } | null = null;
  private held: { field: keyof Changes; value: number; heading: number } | null = null;
  private visible = false;

  constructor(
    stage: Stage,
    private readonly hooks: HandleHooks,
  ) {
    this.pool = new Pool(stage);
  }

  show(visible: boolean): void {
    this.visible = visible;
    if (!visible) this.held = null;
    this.draw();
  }

  set(scene: { way: Way; ahead: [number, number]; made: Changes } | null): void {
    this.scene = scene;
    if (!this.held) this.draw(); // what is being dragged stays in the hand
  }

  private draw(): void {
    this.pool.redraw(() => {
      const { scene } = this;
      if (!this.visible || !scene) return;
      const { way, ahead, made } = scene;
      const now = { ...made, ...(this.held ? { [this.held.field]: this.held.value } : {}) };
      const last = way.hips.at(-1)!;
      const farther = now.farther_m - made.farther_m;
      const end: [number, number] = [last[0] + farther * ahead[0], last[2] + farther * ahead[1]];
      const top = way.hips[way.apex]!;
      const apex: Place3 = [top[0], top[1] + now.higher_m - made.higher_m, top[2]];
      const heading = way.facing + ((now.turn_deg - made.turn_deg) * Math.PI) / 180;
      const tip: Place3 = [end[0] + TIP_M * Math.sin(heading), 0.02, end[1] + TIP_M * Math.cos(heading)];
      this.pool.line("hips", way.hips, { colour: TEAL, width: 2 });
      this.pool.line("start to end", [[way.hips[0]![0], way.hips[0]![2]], end], { colour: AMBER, width: 2, dashed: true });
      this.pool.arrow("facing", end, heading, { colour: AMBER, length: ARROW_M });
      this.pool.sphere("end", [end[0], 0.03, end[1]], { colour: AMBER, radius: 0.08 }).draggable(this.along(ahead, last));
      this.pool.sphere("apex", apex, { colour: AMBER, radius: 0.07 }).draggable(this.up(top));
      this.pool.line("plumb", [[apex[0], 0, apex[2]], apex], { colour: AMBER, width: 1, opacity: 0.6 });
      this.pool.sphere("tip", tip, { colour: AMBER, radius: 0.06 }).draggable(this.round());
      this.pool.text("said end", [end[0], 0.2, end[1]], metres(now.farther_m), AMBER);
      this.pool.text("said apex", [apex[0], apex[1] + 0.16, apex[2]], metres(now.higher_m), AMBER);
      this.pool.text("said tip", [tip[0], 0.2, tip[2]], `${signed(now.turn_deg, 0)}°`, AMBER);
    });
  }

  private along(ahead: [number, number], last: Place3): DragHooks {
    return this.drag("farther_m", "Drag along the way: farther or less far", (at) => {
      const { made } = this.scene!;
      return made.farther_m + (at.x - last[0]) * ahead[0] + (at.z - last[2]) * ahead[1];
    });
  }

  private up(top: Place3): DragHooks {
    const value = (at: { y: number }) => this.scene!.made.higher_m + at.y - top[1];
    return { ...this.drag("higher_m", "Drag up and down: higher or lower", value), kind: "upright" };
  }

  /** Angles go on beyond half a turn: a whole one more is asked for by going round once more. */
  private round(): DragHooks {
    return this.drag("turn_deg", "Drag round: turn farther to the left or to the right", (at) => {
      const { way, made } = this.scene!;
      const last = way.hips.at(-1)!;
      const before = this.held ?? { value: made.turn_deg, heading: way.facing };
      const heading = Math.atan2(at.x - last[0], at.z - last[2]);
      return before.value + (wrapped(heading - before.heading) * 180) / Math.PI;
    });
  }

  private drag(field: keyof Changes, label: string, value: (at: { x: number; y: number; z: number }) => number): DragHooks {
    return {
      label,
      move: (at) => {
        if (!this.scene) return;
        const last = this.scene.way.hips.at(-1)!;
        const [least, most] = LIMITS[field];
        const wanted = Math.min(Math.max(value(at), least), most);
        this.held = { field, value: wanted, heading: Math.atan2(at.x - last[0], at.z - last[2]) };
        this.draw();
        this.hooks.change(NAMES[field], field, rounded(wanted, field), false);
      },
      end: () => {
        const { held } = this;
        this.held = null;
        if (held) this.hooks.change(NAMES[field], field, rounded(held.value, field), true);
      },
      remove: () => this.hooks.change(NAMES[field], field, 0, true),
    };
  }
}

/** To the centimetre or the degree. */
const rounded = (value: number, field: keyof Changes): number => (field === "turn_deg" ? Math.round(value) : Math.round(100 * value) / 100) || 0;

const signed = (value: number, digits: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
const metres = (value: number): string => `${signed(value, 2)} m`;
