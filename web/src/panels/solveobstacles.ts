/** Obstacles on the stage: translucent solids, moved by dragging them and sized by their handles. */

import type { Obstacle } from "../messages";
import type { DragHooks, Place, Solid } from "../types";
import type { Pool } from "./solvepool";
import { cm, pathOf, type SolveDraft, type Where } from "./solverequest";

export type Point = [number, number];
/** How a drag of something that stands for a constraint changes the request. */
export type Drag = (where: Where, label: string, edit: (ask: SolveDraft, at: Place) => void, title: string) => DragHooks;

/** Metres: how high they are drawn, and the handles' size. */
export const WALL_M = 1;
const HANDLE_M = 0.06;

export function drawObstacle(
  pool: Pool,
  obstacle: Obstacle,
  where: Where,
  style: { colour: string; opacity: number },
  drag: Drag,
): void {
  const { centre, radius_m, low, high } = obstacle;
  const key = pathOf(where);
  const of = (ask: SolveDraft): Obstacle => ask.obstacles[where.index]!;
  /** By how far the thing was dragged from here. */
  const move = (from: Point, edit: (one: Obstacle, dx: number, dz: number) => void): DragHooks =>
    drag(
      where,
      "Move an obstacle",
      (ask, at) => edit(of(ask), at.x - from[0], at.z - from[1]),
      "Drag to move; Delete removes",
    );
  const handle = (name: string, at: Point, edit: (one: Obstacle, to: Point) => void) =>
    pool
      .sphere(`${key} ${name}`, [at[0], 0.05, at[1]], { colour: style.colour, radius: HANDLE_M })
      .draggable(drag(where, "Size an obstacle", (ask, to) => edit(of(ask), [cm(to.x), cm(to.z)]), "Drag to size"));
  if (centre) {
    const radius = radius_m ?? 0;
    pool
      .solid(key, { kind: "cylinder", at: centre, radius, height: WALL_M }, style)
      .draggable(move(centre, (one, dx, dz) => (one.centre = shifted(centre, dx, dz))));
    handle("size", [centre[0] + radius, centre[1]], (one, [x, z]) => {
      one.radius_m = Math.max(0.05, cm(Math.hypot(x - centre[0], z - centre[1])));
    });
  } else if (low && high) {
    const middle: Point = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    pool
      .solid(key, { kind: "box", at: middle, size: [high[0] - low[0], WALL_M, high[1] - low[1]] }, style)
      .draggable(move(middle, (one, dx, dz) => Object.assign(one, { low: shifted(low, dx, dz), high: shifted(high, dx, dz) })));
    handle("low", low, (one, to) => Object.assign(one, boxOf(to, high)));
    handle("high", high, (one, to) => Object.assign(one, boxOf(low, to)));
  } else {
    const name = obstacle.corners ? "corners" : "ends";
    const corners: Point[] = obstacle.corners ?? obstacle.ends ?? [];
    corners.forEach((corner, k) => {
      const next = corners[(k + 1) % corners.length]!;
      pool
        .solid(`${key} wall ${k}`, wall(corner, next), style)
        .draggable(
          move(
            middleOf(corner, next),
            (one, dx, dz) => Object.assign(one, { [name]: corners.map((place) => shifted(place, dx, dz)) }),
          ),
        );
      handle(`corner ${k}`, corner, (one, to) => (one[name]![k] = to));
    });
  }
}

/** A side of a polygon. */
function wall(from: Point, to: Point): Solid {
  const [dx, dz] = [to[0] - from[0], to[1] - from[1]];
  return { kind: "box", at: middleOf(from, to), size: [0.04, WALL_M, Math.hypot(dx, dz)], yaw: Math.atan2(dx, dz) };
}

const middleOf = (a: Point, b: Point): Point => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];

export const shifted = ([x, z]: Point, dx: number, dz: number): Point => [cm(x + dx), cm(z + dz)];

/** The box between two corners, a hand wide at least. */
export function boxOf(a: Point, b: Point): { low: Point; high: Point } {
  const low: Point = [cm(Math.min(a[0], b[0])), cm(Math.min(a[1], b[1]))];
  return {
    low,
    high: [Math.max(cm(Math.max(a[0], b[0])), cm(low[0] + 0.1)), Math.max(cm(Math.max(a[1], b[1])), cm(low[1] + 0.1))],
  };
}
