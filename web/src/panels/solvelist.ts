/** The constraints as a list: what each asks for, how well it is met, and its numbers to be typed. */

import { button, checkbox, el, icon, numberField, select, slider } from "../dom";
import type { ConstraintReport, SolveAsk } from "../messages";
import type { Context, State } from "../types";
import { motionOf } from "./clips";
import { all, isSame, pathOf, said, type Where } from "./solverequest";
import { refill } from "./watch";

/** Milliseconds within which moves of a slider are one step of undo. */
const SETTLE = 200;

export interface ListHooks {
  change(label: string, edit: (ask: SolveAsk) => void, where: Where, settle?: number): void;
  remove(where: Where): void;
  choose(where: Where | null): void;
}

export interface Listed {
  ask: SolveAsk;
  chosen: Where | null;
  reports: ReadonlyMap<string, ConstraintReport>;
  /** What is wrong with a constraint, by its place: refused, or out of reach. */
  wrong: ReadonlyMap<string, string>;
}

export function constraintList(context: Context, hooks: ListHooks) {
  const element = el("ul", { class: "constraints", attrs: { "aria-label": "Constraints" } });
  let drawn = "";
  return {
    element,
    set(listed: Listed): void {
      const { ask, chosen, reports, wrong } = listed;
      // Only the distances change while candidates come in: whoever types a number meanwhile is not disturbed.
      const key = JSON.stringify([ask, chosen, [...wrong], context.store.state.graph?.labels]);
      if (key !== drawn) refill(element, ...all(ask).map((where) => row(context, hooks, listed, where)));
      drawn = key;
      for (const [k, where] of all(ask).entries()) tell(element.children[k] as HTMLElement, where, reports);
    },
  };
}

function row(context: Context, hooks: ListHooks, { ask, chosen, wrong }: Listed, where: Where): HTMLElement {
  const open = isSame(where, chosen);
  const name = said(ask, where);
  const header = button(name, () => hooks.choose(open ? null : where), { kind: "quiet" });
  header.setAttribute("aria-expanded", String(open));
  header.classList.add("name");
  const problem = wrong.get(pathOf(where))?.replace(/^\w+\[\d+\]: /, "");
  return el(
    "li",
    { data: { where: pathOf(where) } },
    el(
      "div",
      { class: "row" },
      header,
      el("span", {
        class: "error",
        title: "How far the motion is from it; of arrows before finishing makes up for it",
      }),
      button(`Remove ${name}`, () => hooks.remove(where), { icon: "close", iconOnly: true, kind: "quiet" }),
    ),
    problem ? el("p", { class: "problem", attrs: { role: "alert" } }, icon("warning"), problem) : null,
    open ? el("div", { class: "constraint-form" }, ...form(context, hooks, ask, where)) : null,
  );
}

/** Say how well a constraint is met. */
function tell(row: HTMLElement, where: Where, reports: ReadonlyMap<string, ConstraintReport>): void {
  const report = reports.get(where.kind === "obstacles" ? "obstacles" : pathOf(where));
  const isExact = where.kind === "frames" || (where.kind === "body" && where.index === 0);
  row.dataset["met"] = String(report?.met ?? true);
  row.querySelector(".error")!.textContent = reports.size === 0 ? "" : isExact ? "exact" : (report?.text ?? "");
}

function form(context: Context, hooks: ListHooks, ask: SolveAsk, where: Where): HTMLElement[] {
  const { index } = where;
  const number = (
    label: string,
    unit: string,
    value: number,
    step: number,
    range: [number, number],
    set: (ask: SolveAsk, value: number) => void,
  ) =>
    numberField(label, {
      min: range[0],
      max: range[1],
      step,
      unit,
      value,
      onChange: (now) => hooks.change(`Change ${label.toLowerCase()}`, (next) => set(next, now), where),
    }).element;
  const place = (label: string, value: number, set: (ask: SolveAsk, value: number) => void) =>
    number(label, "m", value, 0.1, [-1000, 1000], set);
  const time = (label: string, value: number, set: (ask: SolveAsk, value: number) => void) =>
    number(label, "s", value, 0.1, [0, ask.length_s], set);
  const weight = (value: number, set: (ask: SolveAsk, value: number) => void) =>
    number("Weight", "", value, 0.5, [0.001, 1000], set);
  if (where.kind === "body") {
    const arrow = ask.body[index]!;
    const looks = arrow.facing_deg !== null;
    return [
      pair(
        time("At", arrow.at_s, (next, now) => (next.body[index]!.at_s = now)),
        weight(arrow.weight, (next, now) => (next.body[index]!.weight = now)),
      ),
      pair(
        place("x", arrow.position[0], (next, now) => (next.body[index]!.position[0] = now)),
        place("z", arrow.position[1], (next, now) => (next.body[index]!.position[1] = now)),
      ),
      ...(index > 0
        ? [
            checkbox("Looks somewhere", looks, (on) =>
              hooks.change(
                on ? "Ask where to look" : "Look anywhere",
                (next) => (next.body[index]!.facing_deg = on ? 0 : null),
                where,
              ),
            ).element,
          ]
        : []),
      ...(looks
        ? [number("Looks", "°", arrow.facing_deg!, 5, [-360, 360], (next, now) => (next.body[index]!.facing_deg = now))]
        : []),
    ];
  }
  if (where.kind === "joints") {
    const target = ask.joints[index]!;
    const axes = (what: "position" | "velocity", unit: string) =>
      el(
        "div",
        { class: "triple" },
        ...(["x", "y", "z"] as const).map((axis, k) =>
          optional(`${axis}, ${unit}`, target[what][k]!, (now) =>
            hooks.change(`Change ${axis}`, (next) => (next.joints[index]![what][k] = now), where),
          ),
        ),
      );
    return [
      pair(
        time("At", target.at_s, (next, now) => (next.joints[index]!.at_s = now)),
        weight(target.weight, (next, now) => (next.joints[index]!.weight = now)),
      ),
      select("Joint", named(jointNames(context.store.state), target.joint), target.joint, (name) =>
        hooks.change("Choose a joint", (next) => (next.joints[index]!.joint = name), where),
      ).element,
      axes("position", "m"),
      axes("velocity", "m/s"),
      el("p", { class: "quiet-text" }, "Empty: any."),
    ];
  }
  if (where.kind === "poses") {
    const pose = ask.poses[index]!;
    return [
      pair(
        time("At", pose.at_s, (next, now) => (next.poses[index]!.at_s = now)),
        weight(pose.weight, (next, now) => (next.poses[index]!.weight = now)),
      ),
      ...clipFrame(context, hooks, where, pose, (next) => next.poses[index]!),
    ];
  }
  if (where.kind === "frames") {
    const frame = ask.frames[index]!;
    return [
      pair(
        time("At", frame.at_s, (next, now) => (next.frames[index]!.at_s = now)),
        time("Lasts", frame.lasts_s, (next, now) => (next.frames[index]!.lasts_s = now)),
      ),
      ...clipFrame(context, hooks, where, frame, (next) => next.frames[index]!),
    ];
  }
  if (where.kind === "labels") {
    const label = ask.labels[index]!;
    return [
      select("Label", named(context.store.state.graph?.labels ?? [], label.label), label.label, (name) =>
        hooks.change("Choose a label", (next) => (next.labels[index]!.label = name), where),
      ).element,
      pair(
        time("From", label.start_s, (next, now) => (next.labels[index]!.start_s = now)),
        time("To", label.stop_s, (next, now) => (next.labels[index]!.stop_s = now)),
      ),
      weight(label.weight, (next, now) => (next.labels[index]!.weight = now)),
    ];
  }
  const { circle, box, polygon, clearance, weight: heavy } = ask.obstacles[index]!;
  const xz = (label: string, at: [number, number], of: (ask: SolveAsk) => [number, number]) =>
    pair(
      place(`${label}x`, at[0], (next, now) => (of(next)[0] = now)),
      place(`${label}z`, at[1], (next, now) => (of(next)[1] = now)),
    );
  return [
    ...(circle
      ? [
          xz("", circle.centre, (next) => next.obstacles[index]!.circle!.centre),
          number(
            "Radius",
            "m",
            circle.radius,
            0.1,
            [0.05, 100],
            (next, now) => (next.obstacles[index]!.circle!.radius = now),
          ),
        ]
      : []),
    ...(box
      ? [
          xz("Low ", box.low, (next) => next.obstacles[index]!.box!.low),
          xz("High ", box.high, (next) => next.obstacles[index]!.box!.high),
        ]
      : []),
    ...(polygon?.corners ?? []).map((corner, k) =>
      xz(`${k + 1}: `, corner, (next) => next.obstacles[index]!.polygon!.corners[k]!),
    ),
    pair(
      number("Clearance", "m", clearance, 0.1, [0, 10], (next, now) => (next.obstacles[index]!.clearance = now)),
      weight(heavy, (next, now) => (next.obstacles[index]!.weight = now)),
    ),
  ];
}

/** Which clip, and which of its frames: the ghost on the stage shows it while the slider moves. */
function clipFrame(
  context: Context,
  hooks: ListHooks,
  where: Where,
  { clip, frame }: { clip: string; frame: number },
  of: (ask: SolveAsk) => { clip: string; frame: number },
): HTMLElement[] {
  const { state } = context.store;
  const entry = state.document.clips.find((known) => known.name === clip);
  const frames = (entry && motionOf(state, entry)?.frames) ?? frame + 1;
  return [
    select("Clip", named(clipNames(state), clip), clip, (name) =>
      hooks.change("Choose a clip", (next) => Object.assign(of(next), { clip: name, frame: 0 }), where),
    ).element,
    slider("Frame", {
      min: 0,
      max: frames - 1,
      step: 1,
      value: frame,
      onInput: (now) => hooks.change("Pick a pose", (next) => (of(next).frame = now), where, SETTLE),
    }).element,
  ];
}

/** Clips that the graph is made of and the library has. */
export function clipNames(state: State): string[] {
  const known = new Set(state.graph?.clips.map((clip) => clip.name) ?? []);
  return state.document.clips.map((clip) => clip.name).filter((name) => known.has(name));
}

export function jointNames(state: State): string[] {
  return state.clips[0]?.joints ?? [];
}

const named = (names: readonly string[], also: string) =>
  (names.includes(also) ? names : [...names, also]).map((name) => ({ value: name, label: name }));

const pair = (...children: HTMLElement[]): HTMLElement => el("div", { class: "pair" }, ...children);

/** A number that may be left empty. */
function optional(label: string, value: number | null, onChange: (value: number | null) => void): HTMLElement {
  const input = el("input", {
    attrs: { type: "number", step: 0.1, placeholder: "any", "aria-label": label },
    on: { change: () => onChange(Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : null) },
  });
  input.value = value === null ? "" : String(value);
  return el("label", { class: "optional" }, el("span", { class: "quiet-text" }, label), input);
}
