/** Where a camera sees a joint: goals on the line from the camera through a point of its picture. */

import { AMBER } from "../colours";
import type { Camera, CompleteRequest, ViewGoal } from "../messages";
import type { At, Place, Stage } from "../types";
import { viewsOf } from "./completedraft";
import { Pool } from "./solvepool";

type Vector = [number, number, number];

const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a: Vector): Vector => {
  const length = Math.hypot(...a) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
};

/** What a camera has to its right, above and ahead, and half its picture's width and height at a metre's distance. */
function frameOf(camera: Camera): { right: Vector; up: Vector; ahead: Vector; half: [number, number] } {
  const ahead = unit(minus(camera.target, camera.position));
  const right = unit(cross(ahead, [0, 1, 0]));
  const high = Math.tan(((camera.field_of_view_deg ?? 40) * Math.PI) / 360);
  return { right, up: cross(right, ahead), ahead, half: [high * (camera.aspect ?? 16 / 9), high] };
}

/** Across and down the picture, (0, 0) is its upper left corner; to a thousandth. */
export function seenBy(camera: Camera, place: Place): [number, number] {
  const { right, up, ahead, half } = frameOf(camera);
  const away = minus([place.x, place.y, place.z], camera.position);
  const depth = Math.max(dot(away, ahead), 0.05);
  const part = (value: number) => Math.round(1000 * Math.min(Math.max(value, 0), 1)) / 1000;
  return [part(0.5 + dot(away, right) / depth / half[0] / 2), part(0.5 - dot(away, up) / depth / half[1] / 2)];
}

/** The place on a goal's line that is as far from the camera as another one. */
export function placeOf({ camera, seen }: ViewGoal, near: Place): Vector {
  const { right, up, ahead, half } = frameOf(camera);
  const depth = Math.max(dot(minus([near.x, near.y, near.z], camera.position), ahead), 0.05);
  const [x, y] = [(2 * seen[0] - 1) * half[0] * depth, (1 - 2 * seen[1]) * half[1] * depth];
  return [0, 1, 2].map((k) => camera.position[k]! + depth * ahead[k]! + x * right[k]! + y * up[k]!) as Vector;
}

export interface ViewHooks {
  /** Where the figure has a joint at a time. */
  figureJoint(joint: string, at_s: number): Place | null;
  /** A goal is dragged: this is where its joint is to be seen. */
  move(index: number, seen: [number, number]): void;
  end(index: number, seen: [number, number]): void;
  remove(index: number): void;
}

export class ViewGoals {
  private readonly pool: Pool;
  private request: CompleteRequest = {};
  /** The goal that is in the hand. Answers that arrive meanwhile do not take it away. */
  private held: { view: number; seen: [number, number] } | null = null;

  constructor(
    stage: Stage,
    private readonly hooks: ViewHooks,
  ) {
    this.pool = new Pool(stage);
  }

  draw(request: CompleteRequest, visible: boolean): void {
    this.request = request;
    if (!visible) this.held = null;
    this.pool.redraw(() => {
      if (!visible) return;
      for (const [k, asked] of viewsOf(request).entries()) {
        const goal = this.held?.view === k ? { ...asked, seen: this.held.seen } : asked;
        const near = this.hooks.figureJoint(goal.joint, goal.at_s ?? goal.start_s ?? 0);
        if (!near) continue;
        const place = placeOf(goal, near);
        // From near the camera on: through the eye itself it would hide what is seen.
        const eye = goal.camera.position as Vector;
        const begin = eye.map((value, c) => value + 0.3 * (place[c]! - value)) as At;
        this.pool.line(`view ${k} line`, [begin, place], { colour: AMBER, width: 1, dashed: true, opacity: 0.7 });
        this.pool.text(`view ${k} name`, [place[0], place[1] + 0.14, place[2]], `${goal.joint} seen here`, AMBER);
        this.pool.sphere(`view ${k}`, place, { colour: AMBER, radius: 0.05 }).draggable({
          kind: "view",
          label: `${goal.joint}: drag to where the camera is to see it; Delete removes`,
          move: (at) => {
            const seen = seenBy(goal.camera, at);
            this.held = { view: k, seen };
            this.draw(this.request, true);
            this.hooks.move(k, seen);
          },
          end: () => {
            const moved = this.held;
            this.held = null;
            if (moved) this.hooks.end(k, moved.seen);
          },
          remove: () => this.hooks.remove(k),
        });
      }
    });
  }
}
