/** A joint's way drawn in the view: in the plane through the joint that faces the camera, as long as the drawing took.
    Its points are dragged afterwards, likewise; from another side of the camera the way gets its depth. */

import { AMBER } from "../colours";
import type { CompleteRequest } from "../messages";
import type { At, Place, Stage } from "../types";
import { tracksOf } from "./completedraft";
import { Pool } from "./solvepool";
import { cm } from "./solverequest";
import { takePointer } from "./takepointer";

type Point = [number, number, number];

const EVERY_M = 0.02;
/** Points of a track that can be taken hold of; those between follow. */
const HANDLES = 9;

export interface Drawn {
  points: Point[];
  seconds: number;
}

export interface TrackHooks {
  /** A track's points are dragged. */
  move(index: number, points: Point[]): void;
  end(index: number, points: Point[]): void;
  remove(index: number): void;
}

/** The points with one of them moved; its neighbours go along, less and less towards the next handles. */
export function pulled(points: readonly Point[], index: number, to: Place, reach: number): Point[] {
  const from = points[index]!;
  const away = [to.x - from[0], to.y - from[1], to.z - from[2]];
  return points.map((point, k) => {
    const share = Math.max(0, 1 - Math.abs(k - index) / reach);
    const much = share * share * (3 - 2 * share);
    return point.map((value, c) => cm(value + much * away[c]!)) as Point;
  });
}

/** Which points have handles: evenly spread, both ends among them. */
export function handlesOf(count: number): number[] {
  const many = Math.min(HANDLES, count);
  return [...new Set(Array.from({ length: many }, (_, k) => Math.round((k * (count - 1)) / Math.max(many - 1, 1))))];
}

export class TrackPen {
  private readonly pool: Pool;
  private request: CompleteRequest = {};
  private sketch: Point[] = [];
  /** The track that is in the hand: as it was, and as it is now. Answers that arrive meanwhile do not take it away. */
  private held: { track: number; from: Point[]; to: Point[] } | null = null;
  private drawing: { through: Place; began: number; done: (drawn: Drawn | null) => void } | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly hooks: TrackHooks,
  ) {
    this.pool = new Pool(stage);
    takePointer(stage, { down: (event) => this.down(event), move: (event) => this.move(event), up: (event) => this.up(event) });
  }

  /** Draw with the next press; `done` gets what was drawn, null if nothing was. */
  start(from: Place | null, done: (drawn: Drawn | null) => void): void {
    this.drawing = { through: from ?? { x: 0, y: 1.2, z: 0 }, began: 0, done };
  }

  /** Draw no more. */
  stop(): void {
    this.drawing = null;
    this.sketch = [];
  }

  private down(event: PointerEvent): boolean {
    if (!this.drawing) return false;
    this.drawing.began = event.timeStamp;
    this.sketch = [];
    this.add(event);
    return true;
  }

  private move(event: PointerEvent): void {
    const steps = event.getCoalescedEvents();
    for (const step of steps.length > 0 ? steps : [event]) this.add(step);
    this.draw(this.request, true);
  }

  private up(event: PointerEvent): void {
    const { drawing } = this;
    if (!drawing) return;
    const [points, seconds] = [this.sketch, (event.timeStamp - drawing.began) / 1000];
    this.stop();
    drawing.done(points.length > 1 ? { points, seconds } : null);
  }

  private add(event: PointerEvent): void {
    const at = this.drawing && this.stage.facing(event, this.drawing.through);
    if (!at) return;
    const point: Point = [cm(at.x), cm(Math.max(at.y, 0)), cm(at.z)];
    const last = this.sketch.at(-1);
    if (!last || Math.hypot(point[0] - last[0], point[1] - last[1], point[2] - last[2]) > EVERY_M) this.sketch.push(point);
  }

  /** Show the tracks of a request, and what is being drawn. */
  draw(request: CompleteRequest, visible: boolean): void {
    this.request = request;
    if (!visible) this.held = null;
    this.pool.redraw(() => {
      if (!visible) return;
      for (const [k, goal] of tracksOf(request).entries()) {
        const points = this.held?.track === k ? this.held.to : ((goal.points ?? []) as Point[]);
        if (points.length > 1) this.track(k, points, goal.joint);
      }
      if (this.sketch.length > 1) this.pool.line("sketch", this.sketch, { colour: AMBER, width: 3 });
    });
  }

  private track(k: number, points: Point[], joint: string): void {
    this.pool.line(`track ${k}`, points, { colour: AMBER, width: 3 });
    const [x, y, z] = points[0]!;
    this.pool.text(`track ${k} name`, [x, y + 0.1, z], joint, AMBER);
    const handles = handlesOf(points.length);
    const reach = Math.max(1, (points.length - 1) / Math.max(handles.length - 1, 1));
    for (const index of handles) {
      this.pool.sphere(`track ${k} point ${index}`, points[index] as At, { colour: AMBER, radius: 0.03 }).draggable({
        kind: "view",
        label: `The way of ${joint}: drag it; Delete removes the track`,
        start: () => (this.held = { track: k, from: points, to: points }),
        move: (at) => {
          if (this.held?.track !== k) return;
          this.held.to = pulled(this.held.from, index, { ...at, y: Math.max(at.y, 0) }, reach);
          this.shift(k, this.held.to);
          this.hooks.move(k, this.held.to);
        },
        end: () => {
          const moved = this.held;
          this.held = null;
          if (moved) this.hooks.end(k, moved.to);
        },
        remove: () => this.hooks.remove(k),
      });
    }
  }

  /** What is in the hand stays there: only its looks change until it is let go. */
  private shift(k: number, points: Point[]): void {
    this.pool.line(`track ${k}`, points, { colour: AMBER, width: 3 });
    for (const index of handlesOf(points.length)) {
      this.pool.sphere(`track ${k} point ${index}`, points[index] as At, { colour: AMBER, radius: 0.03 });
    }
  }
}
