/** What is wanted along a path: a speed, a label or a pause, from one bead to the other. */

import { button, el, icon } from "../dom";
import type { FollowRequest, Plain } from "../messages";
import type { Context } from "../types";
import { type Form, requestForm } from "./form";
import { length, type Point } from "./path";
import type { Schema } from "./schema";
import { refill } from "./watch";
import { goalsOf, isAt, rangeOf, said, type Wish, wishesOf } from "./wishes";

export interface StretchHooks {
  change(label: string, goals: NonNullable<FollowRequest["goals"]>): void;
  /** Put the beads here; null takes them away. */
  select(range: [number, number] | null): void;
}

export function stretchEditor(context: Context, hooks: StretchHooks) {
  const element = el("div", { class: "stretches" });
  let points: Point[] = [];
  let stretches: Wish[] = [];
  /** A stretch on which nothing is asked for yet, or no longer: behind the others, and not part of the request. */
  let blank: Wish | null = null;
  /** On which stretch each goal of the request is. */
  let owners: number[] = [];
  /** Which of them the beads are on; null where none is. */
  let chosen: number | null = null;
  /** What is wrong with them. */
  const wrong = new Map<number, string>();

  const all = (): Wish[] => (blank ? [...stretches, blank] : stretches);

  function choose(which: number | null): void {
    chosen = which;
    const wish = which === null ? undefined : all()[which];
    hooks.select(wish ? rangeOf(wish) : null);
    draw();
  }

  function add(): void {
    const whole = length(points);
    const fast = stretches.filter((wish) => wish.speed_m_s);
    // The middle third, or behind the last speed: two speeds must not meet.
    const start = fast.length > 0 ? Math.min(Math.max(...fast.map((wish) => rangeOf(wish)[1])), whole * 0.9) : whole / 3;
    const stop = fast.length > 0 ? whole : (2 * whole) / 3;
    blank ??= { start_m: cm(start), end_m: cm(stop) };
    choose(stretches.length);
  }

  /** What asks for nothing waits beside the request, where it is, until it asks for something. */
  function edit(which: number, wish: Wish): void {
    for (const name of ["speed_m_s", "label", "pause_s"] as const) if (!wish[name]) delete wish[name];
    const isBlank = which === stretches.length;
    if (said(wish) !== "") {
      if (isBlank) blank = null;
      const next = isBlank ? [...stretches, wish] : stretches.with(which, wish);
      hooks.change(isBlank ? "Ask for something on a stretch" : "Change a stretch", goalsOf(next));
      stretches = next;
    } else {
      if (!isBlank) hooks.change("Ask for nothing on a stretch", goalsOf(stretches = stretches.toSpliced(which, 1)));
      blank = wish;
      chosen = stretches.length;
    }
    choose(chosen);
  }

  function remove(which: number): void {
    if (which === stretches.length) blank = null;
    else hooks.change("Remove a stretch", goalsOf(stretches = stretches.toSpliced(which, 1)));
    choose(null);
  }

  /** Speed, label and pause by their numbers; where it begins and ends, the beads say too. */
  function form(which: number): Form {
    const whole = context.store.state.verbs.find(({ name }) => name === "follow")!.request as Schema;
    const of = (model: string, name: string, description?: string): Schema => {
      const part = whole.$defs![model]!.properties![name]!;
      const choices = (part.anyOf ?? [part]).filter(({ type }) => type !== "null");
      return { description: description ?? part.description ?? "", anyOf: [...choices, { type: "null" }] };
    };
    const properties = {
      start_m: of("PauseGoal", "start_m", "Where it begins, along the path before smoothing and rounding."),
      end_m: of("PauseGoal", "end_m", "Where it ends."),
      speed_m_s: of("SpeedGoal", "speed_m_s"),
      label: of("LabelGoal", "label"),
      pause_s: of("PauseGoal", "pause_s"),
    };
    const schema: Schema = { properties, $defs: whole.$defs! };
    const hooks = {
      edit: (_: string, change: (wish: Record<string, Plain>) => void) => {
        const wish = { ...all()[which]! };
        change(wish as unknown as Record<string, Plain>);
        edit(which, wish);
      },
    };
    const made = requestForm(schema, hooks, { choices: { label: () => context.store.state.graph?.labels ?? [] } });
    made.set(all()[which]!);
    made.element.classList.add("stretch-form");
    return made;
  }

  function draw(): void {
    const rows = all().map((wish, which) =>
      el(
        "li",
        {},
        el(
          "div",
          { class: "row" },
          button(`${rangeOf(wish).map((at) => at.toFixed(1)).join("–")} m: ${said(wish) || "nothing asked yet"}`, () =>
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
    moved: (start: number, stop: number) => chosen !== null && edit(chosen, { ...all()[chosen]!, start_m: cm(start), end_m: cm(stop) }),
    /** Say what is wrong with one of them; whether it is about one. */
    fail(where: string, text: string): boolean {
      const which = owners[Number(/^goals\[(\d+)\]/.exec(where)?.[1] ?? NaN)];
      if (which === undefined || !stretches[which]) return false;
      wrong.set(which, text);
      draw();
      return true;
    },
    set(line: Point[], goals: NonNullable<FollowRequest["goals"]>): void {
      const { wishes, owners: now } = wishesOf(goals, length(line));
      owners = now;
      const alike = (among: Wish[]) => among.filter((wish) => isAt(wish, rangeOf(blank!))).length;
      const before = chosen === null ? undefined : all()[chosen];
      // Undone, it is among them again; on another path there is no such place.
      const again = blank !== null && alike(wishes) > alike(stretches);
      [points, stretches] = [line, wishes];
      wrong.clear();
      if (blank && (again || rangeOf(blank)[1] > length(line) + 0.01)) blank = null;
      if (chosen !== null && chosen >= all().length) {
        // What is asked for on the same stretch as something else has become one with it.
        const same = all().findIndex((wish) => isAt(wish, rangeOf(before!)));
        choose(same < 0 ? null : same);
      } else if (chosen !== null) hooks.select(rangeOf(all()[chosen]!));
      draw();
    },
  };
}

const cm = (metres: number): number => Math.round(100 * metres) / 100;
