/** Spans that can be painted on the timeline, in rows: which foot stands when. */

import { el } from "../dom";
import type { Lanes, Span } from "../types";

/** Pixels within which an end of a span is meant, and not the whole of it. */
const END_PX = 6;

/** What the rows need of the timeline. */
export interface LaneAxis {
  share(frame: number): number;
  frameAt(event: MouseEvent): number;
}

export class LaneRows {
  readonly element = el("div", { class: "lanes", hidden: true });
  private lanes: Lanes | null = null;
  private held = false;

  constructor(private readonly axis: LaneAxis) {}

  set(lanes: Lanes | null): void {
    this.lanes = lanes;
    if (!this.held) this.draw();
  }

  /** Also when the timeline shows another part. */
  draw(): void {
    const { lanes } = this;
    this.element.hidden = lanes === null;
    if (!lanes) return this.element.replaceChildren();
    const focused = [...this.element.querySelectorAll(".span")].indexOf(document.activeElement!);
    this.element.replaceChildren(
      ...lanes.rows.map((row, k) => {
        const element = el("div", { class: "lane", title: `${row.name}: drag to paint, drag ends to change, Delete removes` });
        element.append(...row.spans.map((span, n) => this.span(row.name, k, n, span)));
        element.addEventListener("pointerdown", (event) => this.paint(event, element, k));
        return element;
      }),
    );
    (this.element.querySelectorAll(".span")[focused] as HTMLElement | undefined)?.focus({ preventScroll: true });
  }

  private span(name: string, row: number, index: number, span: Span): HTMLElement {
    const bar = el("button", {
      class: "span",
      attrs: { type: "button", "aria-label": `${name}, frames ${Math.round(span.start)} to ${Math.round(span.stop)}` },
    });
    this.place(bar, span);
    bar.addEventListener("pointermove", (event) => (bar.style.cursor = this.part(event, bar) === "all" ? "grab" : "col-resize"));
    bar.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      bar.focus({ preventScroll: true });
      const [part, from] = [this.part(event, bar), this.axis.frameAt(event)];
      const moved = (next: PointerEvent): Span => {
        const by = Math.round(this.axis.frameAt(next) - from);
        const start = part === "stop" ? span.start : Math.max(span.start + by, 0);
        return { start, stop: Math.max(part === "start" ? span.stop : span.stop + by, start + 2) };
      };
      this.drag(event, bar, (next) => this.place(bar, moved(next)), (next) => {
        const made = moved(next);
        if (made.start !== span.start || made.stop !== span.stop) this.lanes?.change(row, index, made);
      });
    });
    bar.addEventListener("dblclick", (event) => event.stopPropagation());
    bar.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
      if (event.key === "Delete" || event.key === "Backspace") this.lanes?.remove(row, index);
      else if (step) this.lanes?.change(row, index, { start: span.start + (event.altKey ? 0 : step), stop: span.stop + step });
      else return;
      event.stopPropagation();
      event.preventDefault();
    });
    return bar;
  }

  private part(event: MouseEvent, bar: HTMLElement): "start" | "stop" | "all" {
    const box = bar.getBoundingClientRect();
    if (event.clientX - box.left < END_PX) return "start";
    return box.right - event.clientX < END_PX ? "stop" : "all";
  }

  private place(bar: HTMLElement, { start, stop }: Span): void {
    const [left, right] = [this.axis.share(start), this.axis.share(stop)];
    bar.style.left = `${100 * left}%`;
    bar.style.width = `${Math.max(100 * (right - left), 0.4)}%`;
  }

  private paint(event: PointerEvent, row: HTMLElement, k: number): void {
    if (event.button !== 0) return;
    event.stopPropagation();
    const from = Math.round(this.axis.frameAt(event));
    const bar = el("div", { class: "span painted" });
    row.append(bar);
    const made = (next: PointerEvent): Span => {
      const to = Math.round(this.axis.frameAt(next));
      return { start: Math.min(from, to), stop: Math.max(from, to) };
    };
    this.place(bar, { start: from, stop: from });
    this.drag(event, row, (next) => this.place(bar, made(next)), (next) => {
      const span = made(next);
      bar.remove();
      if (span.stop - span.start > 2) this.lanes?.paint(k, span);
    });
  }

  private drag(event: PointerEvent, target: HTMLElement, move: (next: PointerEvent) => void, end: (next: PointerEvent) => void): void {
    target.setPointerCapture(event.pointerId);
    this.held = true;
    const ended = (next: PointerEvent) => {
      target.removeEventListener("pointermove", move);
      target.removeEventListener("pointerup", ended);
      target.removeEventListener("pointercancel", ended);
      this.held = false;
      if (next.type === "pointerup") end(next);
      this.draw();
    };
    target.addEventListener("pointermove", move);
    target.addEventListener("pointerup", ended);
    target.addEventListener("pointercancel", ended);
  }
}
