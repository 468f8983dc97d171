/** Answers while something is dragged: one request at a time, since each would stop the one before it and nothing would
    be seen; the document hears of it at the end. */

import type { Context } from "../types";
import type { Asker } from "./asking";

export class Dragging<R extends object> {
  /** What is asked while something is dragged. */
  request: R | null = null;
  private underWay = false;
  private waits = false;

  constructor(
    private readonly context: Context,
    verb: string,
    private readonly asker: Asker,
  ) {
    const landed = (message: { verb: string }) => message.verb === verb && void this.landed();
    context.api.on("answer", (message) => message.final && landed(message));
    context.api.on("refused", landed);
  }

  ask(request: R): void {
    this.request = request;
    this.go();
  }

  /** It was let go: whoever calls asks for the last one by the document. */
  end(): void {
    this.request = null;
    this.waits = this.underWay = false;
  }

  private go(): void {
    if (!this.request) return;
    this.waits = this.underWay;
    if (this.underWay) return;
    this.underWay = true;
    this.asker.ask(this.request, false, true);
  }

  /** An answer is there: once it is on the stage, what was dragged on meanwhile is asked. */
  private async landed(): Promise<void> {
    await this.context.stage.loaded.catch(() => undefined);
    this.underWay = false;
    if (this.waits) this.go();
  }
}
