/** What pressing on the floor puts down: an arrow, an obstacle, a corner of one. */

import { AMBER } from "../colours";
import type { Obstacle } from "../messages";
import type { FloorTool, Solid } from "../types";
import { boxOf, shifted, WALL_M, type Point } from "./solveobstacles";
import type { Pool } from "./solvepool";
import { cm } from "./solverequest";

export type Mode = "arrow" | "joint" | "circle" | "box" | "polygon";

/** Metres below which a press is a click. */
const CLICK_M = 0.15;
export const ARROW_M = 0.8;

export interface ToolHooks {
  /** An arrow was put down; the heading in radians where one was drawn. */
  arrow(at: Point, heading: number | null): void;
  obstacle(shape: Obstacle, label: string): void;
  /** Corners of a polygon that is not closed yet were added. */
  sketched(): void;
  /** The tool has done its work. */
  done(): void;
}

export class SolveTools {
  mode: Mode = "arrow";
  /** Of a polygon that is not closed yet. */
  corners: Point[] = [];

  constructor(
    private readonly pool: Pool,
    private readonly hooks: ToolHooks,
  ) {}

  tool(): FloorTool {
    let from: Point | null = null;
    let to: Point = [0, 0];
    return {
      cursor: "crosshair",
      down: ({ x, z, event }) => {
        if (event.button !== 0 || event.altKey || this.mode === "joint") return false;
        from = to = [x, z];
        this.sketch(from, to);
        return true;
      },
      move: ({ x, z }) => from && this.sketch(from, (to = [x, z])),
      up: () => {
        const begin = from;
        from = null;
        this.hooks.sketched();
        if (begin) this.place(begin, to);
      },
      cancel: () => {
        from = null;
        this.hooks.sketched();
      },
      doubleClick: () => this.mode === "polygon" && this.close(),
    };
  }

  /** Show what letting go here would put down. */
  private sketch(from: Point, to: Point): void {
    const away = distance(from, to);
    if (this.mode === "arrow") {
      const length = Math.max(ARROW_M, Math.min(away, 2));
      this.pool.arrow("sketch", from, Math.atan2(to[0] - from[0], to[1] - from[1]), { colour: AMBER, length });
    } else if (this.mode === "circle" || this.mode === "box") {
      const { low, high } = boxOf(from, to);
      const middle: Point = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
      const solid: Solid =
        this.mode === "circle"
          ? { kind: "cylinder", at: from, radius: Math.max(away, 0.05), height: WALL_M }
          : { kind: "box", at: middle, size: [high[0] - low[0], WALL_M, high[1] - low[1]] };
      this.pool.solid(`sketch ${this.mode}`, solid, { colour: AMBER, opacity: 0.5 });
    }
  }

  private place(from: Point, to: Point): void {
    const at = shifted(from, 0, 0);
    const isClick = distance(from, to) < CLICK_M;
    if (this.mode === "arrow")
      return this.hooks.arrow(at, isClick ? null : Math.atan2(to[0] - from[0], to[1] - from[1]));
    if (this.mode === "polygon") return this.corner(at);
    if (this.mode === "circle") {
      this.hooks.obstacle(
        { centre: at, radius_m: isClick ? 0.5 : cm(distance(from, to)) },
        "Add a round obstacle",
      );
    } else {
      const box = isClick ? boxOf(shifted(at, -0.5, -0.5), shifted(at, 0.5, 0.5)) : boxOf(from, to);
      this.hooks.obstacle(box, "Add a box");
    }
    this.hooks.done();
  }

  private corner(at: Point): void {
    const [first] = this.corners;
    if (first && this.corners.length > 2 && distance(at, first) < 2 * CLICK_M) return this.close();
    const last = this.corners.at(-1);
    if (!last || distance(at, last) > 0.02) this.corners.push(at); // the second press of a double click adds none
    this.hooks.sketched();
  }

  private close(): void {
    const corners = this.corners;
    this.corners = [];
    if (corners.length > 2) this.hooks.obstacle({ corners }, "Add a polygon");
    this.hooks.done();
  }
}

const distance = (a: Point, b: Point): number => Math.hypot(b[0] - a[0], b[1] - a[1]);
