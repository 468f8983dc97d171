/** What is wanted along a path: a speed, a label or a pause, from one bead to the other. */

import { button, el, icon } from "../dom";
import type { Plain, StretchRequest } from "../messages";
import type { Context } from "../types";
import { type Form, requestForm } from "./form";
import { length, type Point } from "./path";
import type { Schema } from "./schema";
import { said } from "./sketch";
import { refill } from "./watch";

export interface StretchHooks {
  change(label: string, stretches: StretchRequest[]): void;
  /** Put the beads here; null takes them away. */
  select(range: [number, number] | null): void;
}

export function stretchEditor(context: Context, hooks: StretchHooks) {
  const element = el("div", { class: "stretches" });
  let points: Point[] = [];
  let stretches: StretchRequest[] = [];
  /** Which of them the beads are on; null where none is. */
  let chosen: number | null = null;
  /** What is wrong with them. */
  const wrong = new Map<number, string>();

  function choose(which: number | null): void {
    chosen = which;
    const wish = which === null ? undefined : stretches[which];
    hooks.select(wish ? rangeOf(wish) : null);
    draw();
  }

  function add(): void {
    const whole = length(points);
    const fast = stretches.filter((wish) => wish.speed_m_s);
    // The middle third, or behind the last speed: two speeds must not meet.
    const start = fast.length > 0 ? Math.min(Math.max(...fast.map((wish) => rangeOf(wish)[1])), whole * 0.9) : whole / 3;
    const stop = fast.length > 0 ? whole : (2 * whole) / 3;
    const wish: StretchRequest = { start_m: cm(start), stop_m: cm(stop), speed_m_s: 1 };
    const next = [...stretches, wish];
    hooks.change("Add a stretch", next);
    stretches = next;
    choose(next.length - 1);
  }

  function edit(which: number, wish: StretchRequest): void {
    if (!wish.speed_m_s && !wish.label && !wish.pause_s) return remove(which);
    hooks.change("Change a stretch", stretches.with(which, wish));
  }

  function remove(which: number): void {
    hooks.change("Remove a stretch", stretches.toSpliced(which, 1));
    choose(null);
  }

  /** Speed, label and pause by their numbers; where it begins and ends, the beads say too. */
  function form(which: number): Form {
    const whole = context.store.state.verbs.find(({ name }) => name === "follow")!.request as Schema;
    const schema = { ...whole.$defs!["StretchRequest"]!, $defs: whole.$defs! };
    const hooks = {
      edit: (_: string, change: (wish: Record<string, Plain>) => void) => {
        const wish = { ...stretches[which]! };
        change(wish as unknown as Record<string, Plain>);
        edit(which, wish);
      },
    };
    const made = requestForm(schema, hooks, { choices: { label: () => context.store.state.graph?.labels ?? [] } });
    made.set(stretches[which]!);
    made.element.classList.add("stretch-form");
    return made;
  }

  function draw(): void {
    const rows = stretches.map((wish, which) =>
      el(
        "li",
        {},
        el(
          "div",
          { class: "row" },
          button(`${rangeOf(wish).map((at) => at.toFixed(1)).join("–")} m: ${said(wish)}`, () =>
            choose(chosen === which ? null : which), { kind: "quiet" }),
          button("Remove this stretch", () =>
            remove(which), { icon: "close", iconOnly: true, kind: "quiet" }),
        ),
        wrong.has(which) ? el("p", { class: "problem", attrs: { role: "alert" } }, icon("warning"), wrong.get(which)!) : null,
        chosen === which ? form(which).element : null,
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
    moved: (start: number, stop: number) => chosen !== null && edit(chosen, { ...stretches[chosen]!, start_m: cm(start), stop_m: cm(stop) }),
    /** Say what is wrong with one of them; whether it is about one. */
    fail(where: string, text: string): boolean {
      const which = Number(/^stretches\[(\d+)\]/.exec(where)?.[1] ?? NaN);
      if (!stretches[which]) return false;
      wrong.set(which, text);
      draw();
      return true;
    },
    set(line: Point[], wishes: StretchRequest[]): void {
      [points, stretches] = [line, wishes];
      wrong.clear();
      if (chosen !== null && chosen >= wishes.length) choose(null);
      else if (chosen !== null) hooks.select(rangeOf(wishes[chosen]!));
      draw();
    },
  };
}

const cm = (metres: number): number => Math.round(100 * metres) / 100;

/** From where to where along the path. */
export const rangeOf = ({ start_m, stop_m }: StretchRequest): [number, number] => [start_m, stop_m ?? start_m];
