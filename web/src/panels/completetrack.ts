/** A joint's way drawn in the view: the pen's path over the floor at the joint's height, as long as the drawing took. */

import { AMBER, TEAL } from "../colours";
import type { CompleteRequest } from "../messages";
import type { At, FloorTool, Place, Stage } from "../types";
import { tracksOf } from "./completedraft";
import { Pool } from "./solvepool";
import { cm } from "./solverequest";

const EVERY_M = 0.02;

export interface Drawn {
  points: [number, number, number][];
  seconds: number;
}

export class TrackPen {
  private readonly pool: Pool;
  private sketch: [number, number, number][] = [];

  constructor(private readonly stage: Stage) {
    this.pool = new Pool(stage);
  }

  /** Draw with the floor's tool; `done` gets what was drawn, null if nothing was. */
  start(from: Place | null, done: (drawn: Drawn | null) => void): void {
    const height = cm(from?.y ?? 1.2);
    let began = 0;
    const add = (x: number, z: number) => {
      const last = this.sketch.at(-1);
      if (!last || Math.hypot(x - last[0], z - last[2]) > EVERY_M) this.sketch.push([cm(x), height, cm(z)]);
    };
    const tool: FloorTool = {
      cursor: "crosshair",
      down: ({ x, z, event }) => {
        if (event.button !== 0 || event.altKey) return false;
        began = event.timeStamp;
        this.sketch = [];
        add(x, z);
        return true;
      },
      move: ({ x, z }) => {
        if (began === 0) return;
        add(x, z);
        this.draw({}, true);
      },
      up: ({ event }) => {
        const [points, seconds] = [this.sketch, (event.timeStamp - began) / 1000];
        this.sketch = [];
        done(points.length > 1 ? { points, seconds } : null);
      },
      cancel: () => {
        this.sketch = [];
        done(null);
      },
    };
    this.stage.floor.setTool(tool);
  }

  /** Show the tracks of a request, and what is being drawn. */
  draw(request: CompleteRequest, visible: boolean): void {
    this.pool.redraw(() => {
      if (!visible) return;
      for (const [k, goal] of tracksOf(request).entries()) {
        const points = (goal.points ?? []) as At[];
        if (points.length > 1) this.pool.line(`track ${k}`, points, { colour: TEAL, width: 3 });
        if (points.length > 1) this.pool.text(`track ${k} name`, points[0]!, goal.joint, TEAL);
      }
      if (this.sketch.length > 1) this.pool.line("sketch", this.sketch, { colour: AMBER, width: 3 });
    });
  }
}
