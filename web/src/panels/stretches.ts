/** What is wanted along a path: a speed, a label or a pause, from one bead to the other. */

import { button, el, numberField, select } from "../dom";
import type { StretchAsk } from "../messages";
import type { Context } from "../types";
import { length, type Point } from "./path";
import { said } from "./sketch";
import { refill } from "./watch";

export interface StretchHooks {
  change(label: string, stretches: StretchAsk[]): void;
  /** Put the beads here; null takes them away. */
  select(range: [number, number] | null): void;
}

export function stretchEditor(context: Context, hooks: StretchHooks) {
  const element = el("div", { class: "stretches" });
  let points: Point[] = [];
  let stretches: StretchAsk[] = [];
  /** Which of them the beads are on; null where none is. */
  let chosen: number | null = null;

  function choose(which: number | null): void {
    chosen = which;
    const wish = which === null ? undefined : stretches[which];
    hooks.select(wish ? [wish.start, wish.stop] : null);
    draw();
  }

  function add(): void {
    const whole = length(points);
    const fast = stretches.filter((wish) => wish.speed !== null);
    // The middle third, or behind the last speed: two speeds must not meet.
    const start = fast.length > 0 ? Math.min(Math.max(...fast.map((wish) => wish.stop)), whole * 0.9) : whole / 3;
    const stop = fast.length > 0 ? whole : (2 * whole) / 3;
    const wish: StretchAsk = { start: cm(start), stop: cm(stop), speed: 1, label: null, pause: null };
    const next = [...stretches, wish];
    hooks.change("Add a stretch", next);
    stretches = next;
    choose(next.length - 1);
  }

  function edit(which: number, part: Partial<StretchAsk>): void {
    const wish = { ...stretches[which]!, ...part };
    if (wish.speed === null && wish.label === null && wish.pause === null) return remove(which);
    hooks.change("Change a stretch", stretches.with(which, wish));
  }

  function remove(which: number): void {
    hooks.change("Remove a stretch", stretches.toSpliced(which, 1));
    choose(null);
  }

  function form(which: number): HTMLElement {
    const wish = stretches[which]!;
    const labels = context.store.state.graph?.labels ?? [];
    const names = wish.label && !labels.includes(wish.label) ? [...labels, wish.label] : labels;
    const number = (label: string, unit: string, value: number | null, max: number, name: "speed" | "pause") =>
      numberField(label, {
        min: 0,
        max,
        step: 0.1,
        unit,
        value: value ?? 0,
        hint: "0 asks for none",
        onChange: (now) => edit(which, { [name]: now > 0 ? now : null }),
      }).element;
    return el(
      "div",
      { class: "stretch-form" },
      el(
        "div",
        { class: "pair" },
        number("Speed", "m/s", wish.speed, 20, "speed"),
        number("Stand", "s", wish.pause, 3600, "pause"),
      ),
      select(
        "Label",
        [{ value: "", label: "any" }, ...names.map((name) => ({ value: name, label: name }))],
        wish.label ?? "",
        (name) => edit(which, { label: name || null }),
      ).element,
    );
  }

  function draw(): void {
    const rows = stretches.map((wish, which) =>
      el(
        "li",
        {},
        el(
          "div",
          { class: "row" },
          button(`${wish.start.toFixed(1)}–${wish.stop.toFixed(1)} m: ${said(wish)}`, () =>
            choose(chosen === which ? null : which), { kind: "quiet" }),
          button("Remove this stretch", () =>
            remove(which), { icon: "close", iconOnly: true, kind: "quiet" }),
        ),
        chosen === which ? form(which) : null,
      )
    );
    rows.forEach((row, which) => row.querySelector("button")?.setAttribute("aria-expanded", String(chosen === which)));
    refill(
      element,
      el("ul", {}, ...rows),
      chosen !== null ? el("p", { class: "quiet-text" }, "Drag the two white beads along the path.") : null,
      button("Ask for something on a stretch", add, { icon: "plus", kind: "quiet", disabled: points.length < 2 }),
    );
  }

  return {
    element,
    /** The beads were dragged. */
    moved: (start: number, stop: number) => chosen !== null && edit(chosen, { start: cm(start), stop: cm(stop) }),
    set(line: Point[], wishes: StretchAsk[]): void {
      [points, stretches] = [line, wishes];
      if (chosen !== null && chosen >= wishes.length) choose(null);
      else if (chosen !== null) hooks.select([wishes[chosen]!.start, wishes[chosen]!.stop]);
      draw();
    },
  };
}

const cm = (metres: number): number => Math.round(100 * metres) / 100;
