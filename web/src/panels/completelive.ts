/** Motion while something is dragged: each moment's request is answered within an iteration, and shown at once. */

import type { CompleteRequest, Motion, Plain, Pulled } from "../messages";
import type { Context } from "../types";

/** Milliseconds after which an answer will not come any more: the line was down. The first one learns the model. */
const LOST_MS = 20_000;

type Moment = { request: CompleteRequest; pull: Pulled | null };

export class LiveDrag {
  /** The motion as it was answered last, while a drag goes on. */
  latest: { motion: Motion; frames: Float32Array } | null = null;
  /** Answers since the page was opened, and milliseconds from a request to its answer, lately. */
  readonly told: { answers: number; ms: number[] } = { answers: 0, ms: [] };
  private number = 0;
  private going = false;
  private asked = 0;
  private waits: Moment | null = null;
  private underWay = false;
  private rests: (() => void)[] = [];

  constructor(private readonly context: Context) {
    const { api, stage } = context;
    api.on("partial", (message, frames) => {
      if (message.number !== this.number || !frames) return;
      this.told.answers++;
      this.told.ms = [...this.told.ms.slice(-99), performance.now() - this.asked];
      this.latest = { motion: message.motion, frames };
      stage.preview(message.motion, frames);
      this.next();
    });
    // What is wrong with it is told when it is asked for as a whole.
    api.on("refused", (message) => message.number === this.number && this.next());
  }

  /** What would be asked if it were let go here: the newest one is answered when the one before it is. */
  move(request: CompleteRequest, pull: Pulled | null = null): void {
    this.waits = { request, pull };
    if (!this.underWay || performance.now() - this.asked > LOST_MS) this.send();
  }

  /** It was let go: done when the last one is answered. */
  async end(): Promise<LiveDrag["latest"]> {
    if (this.underWay) {
      await new Promise<void>((resolve) => {
        this.rests.push(resolve);
        window.setTimeout(resolve, LOST_MS);
      });
    }
    const { latest } = this;
    this.going = this.underWay = false;
    this.latest = this.waits = null;
    return latest;
  }

  private send(): void {
    const { request, pull } = this.waits!;
    this.waits = null;
    this.underWay = true;
    this.asked = performance.now();
    this.number = this.context.api.drag(request as unknown as Record<string, Plain>, pull, !this.going);
    this.going = true;
  }

  private next(): void {
    this.underWay = false;
    if (this.waits) return this.send();
    for (const rest of this.rests.splice(0)) rest();
  }
}
