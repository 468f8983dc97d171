/** The form of Follow: what can be said of a path besides drawing it, and where errors appear. */

import {
  button,
  checkbox,
  type Control,
  el,
  fill,
  menu,
  numberField,
  section,
  select,
  slider,
  textField,
} from "../dom";
import type { FollowAsk } from "../messages";
import type { Context } from "../types";
import { buildOffer } from "./library";
import { at, length } from "./path";
import { preferences } from "./preferences";

const SHAPES = [
  { label: "Line", text: "line:length=10" },
  { label: "Circle", text: "circle:radius=3" },
  { label: "Eight", text: "eight:radius=3" },
  { label: "S", text: "s:radius=3" },
  { label: "Square", text: "square:side=6" },
  { label: "Zig-zag", text: "zigzag:leg=3,legs=4,angle=60" },
  { label: "Spiral", text: "spiral" },
] as const;
const BLENDS = ["linear", "cubic", "anticipation"] as const;
/** Milliseconds within which moves of a slider are one step of undo, and one request. */
const SETTLE = 150;

export interface FormHooks {
  edit(label: string, change: (ask: FollowAsk) => void, settle?: number): void;
  /** Draw a shape by its name and measures. */
  shape(text: string): void;
  stretches: HTMLElement;
}

export interface FollowForm {
  element: HTMLElement;
  /** What is to be done next. */
  lead: HTMLElement;
  /** What is known of the path and the walk. */
  facts: HTMLElement;
  set(ask: FollowAsk): void;
  /** Say what is wrong beside the field that it is about; null takes it back. */
  fail(text: string | null, where?: string | null): void;
}

/** What a part of the form needs: hooks, and where to leave its controls. */
interface Part extends FormHooks {
  context: Context;
  ask: FollowAsk;
  /** Called with the request whenever it is another one. */
  onSet(set: (ask: FollowAsk) => void): void;
  onFail(name: string, setError: (text: string | null) => void): void;
  /** Tie a control to a field of the request. */
  bind<T>(name: keyof FollowAsk, control: Control<T>): HTMLElement;
}

export function followForm(context: Context, hooks: FormHooks): FollowForm {
  const setters: ((ask: FollowAsk) => void)[] = [];
  const errors = new Map<string, (text: string | null) => void>();
  const lead = el("p", { class: "lead" });
  const facts = el("p", { class: "quiet-text figures", attrs: { "aria-live": "polite" } });
  const problem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  const part: Part = {
    ...hooks,
    context,
    ask: context.store.state.document.follow,
    onSet: (set) => setters.push(set),
    onFail: (name, setError) => errors.set(name, setError),
    bind<T>(name: keyof FollowAsk, control: Control<T>) {
      setters.push((now) => control.set(now[name] as T));
      errors.set(name, control.setError);
      return control.element;
    },
  };
  const prefer = preferences(context, (label, change) => hooks.edit(label, change, SETTLE));
  setters.push(prefer.set);
  const element = el(
    "div",
    {},
    buildOffer(context),
    section("Path", null, lead, goingOn(part), shapes(part), facts, problem, smoothing(part), ...lastLook(part)),
    section("Along the way", null, hooks.stretches),
    section("Motion", null, ...blending(part)),
    section("Choice", null, ...choice(part)),
    section("Preferences", "closed", prefer.element),
    section("More shapes", "closed", namedShape(part)),
  );
  return {
    element,
    lead,
    facts,
    set(ask) {
      for (const set of setters) set(ask);
    },
    fail(text, where = null) {
      for (const setError of errors.values()) setError(null);
      const field = where === null ? undefined : errors.get(where.split(".")[0]!);
      if (text !== null) field?.(text);
      problem.hidden = text === null || field !== undefined;
      problem.textContent = text;
    },
  };
}

/** Says whose walk goes on, and lets it be. */
function goingOn({ context, edit, onSet }: Part): HTMLElement {
  const note = el("div", { class: "note" });
  onSet(({ continue_from }) => {
    note.hidden = continue_from === null;
    if (continue_from === null) return;
    const { results, document } = context.store.state;
    const from = results.find((result) => result.id === continue_from);
    const name = from ? `“${document.names[from.id] ?? from.name}”` : "an earlier walk";
    const anew = () => edit("Begin anew", (ask) => (ask.continue_from = null));
    fill(note, el("span", {}, `Walking on from ${name}.`), button("Begin anew", anew, { kind: "quiet" }));
  });
  return note;
}

function shapes({ edit, shape }: Part): HTMLElement {
  const items = SHAPES.map(({ label, text }) => ({ label, run: () => shape(text) }));
  const open = button("Shapes", () => menu(open, items), { icon: "path" });
  open.setAttribute("aria-haspopup", "menu");
  const nothing = { points: [], stretches: [], final_facing: null, continue_from: null };
  const clear = () => edit("Clear the path", (ask) => Object.assign(ask, structuredClone(nothing)));
  return el("div", { class: "row" }, open, button("Clear", clear, { kind: "quiet" }));
}

function namedShape({ shape, onFail }: Part): HTMLElement {
  const draw = (text: string) => text.trim() && shape(text.trim());
  const field = textField("Shape with its measures", "", draw, "circle:radius=4,turns=2");
  onFail("shape", field.setError);
  return field.element;
}

function smoothing({ ask, edit, bind }: Part): HTMLElement {
  const smooth = slider("Smooth", {
    min: 0,
    max: 2,
    step: 0.05,
    value: ask.smooth_m,
    format: (value) => `${value.toFixed(2)} m`,
    hint: "Wiggles shorter than this are taken out",
    onInput: (value) => edit("Smooth the path", (now) => (now.smooth_m = value), SETTLE),
  });
  return bind("smooth_m", smooth);
}

/** Where to look at the end: whether, and the angle; the arrow on the stage turns it too. */
function lastLook({ ask, edit, onSet, onFail }: Part): HTMLElement[] {
  const along = ({ points }: FollowAsk) => (points.length > 1 ? at(points, length(points)).heading : null);
  const wanted = checkbox(
    "Look somewhere at the end",
    ask.final_facing !== null,
    (on) =>
      edit(on ? "Ask for a last look" : "Drop the last look", (now) => (now.final_facing = on ? along(now) : null)),
  );
  const angle = numberField("Look at the end", {
    min: -180,
    max: 180,
    step: 5,
    unit: "°",
    value: 0,
    hint: "0 looks along +z, 90 along +x; the arrow on the stage turns it too",
    onChange: (degrees) => edit("Turn the last look", (now) => (now.final_facing = (degrees * Math.PI) / 180)),
  });
  onFail("final_facing", angle.setError);
  onSet(({ final_facing }) => {
    wanted.set(final_facing !== null);
    angle.element.hidden = final_facing === null;
    if (final_facing !== null) angle.set(Math.round((final_facing * 180) / Math.PI));
  });
  return [wanted.element, angle.element];
}

/** How one clip flows into the next; only anticipation knows which parts of the body go first. */
function blending({ context, ask, edit, onSet, bind }: Part): HTMLElement[] {
  const choices = (names: readonly string[]) => names.map((name) => ({ value: name, label: name }));
  const blend = select<string>("Blend", choices(BLENDS), ask.blend, (name) =>
    edit("Change the blend", (now) => {
      now.blend = name as FollowAsk["blend"];
      if (now.blend !== "anticipation") now.preset = "even";
    }), "How one clip flows into the next");
  const preset = select<string>(
    "Anticipation",
    choices(context.store.state.presets),
    ask.preset,
    (name) => edit("Change anticipation", (now) => (now.preset = name)),
    "Which parts of the body change over first",
  );
  onSet((now) => (preset.element.hidden = now.blend !== "anticipation"));
  const clean = checkbox(
    "Keep planted feet still",
    ask.clean,
    (on) => edit("Change foot cleaning", (now) => (now.clean = on)),
  );
  return [bind("blend", blend), bind("preset", preset), bind("clean", clean)];
}

function choice({ ask, edit, bind }: Part): HTMLElement[] {
  const count = numberField("Candidates", {
    min: 1,
    max: 12,
    step: 1,
    value: ask.count,
    hint: "How many different walks to find",
    onChange: (value) => edit("Change the count", (now) => (now.count = Math.round(value))),
  });
  const seed = numberField("Seed", {
    min: 0,
    max: 2 ** 31,
    step: 1,
    value: ask.seed,
    hint: "Same seed, same walk",
    onChange: (value) => edit("Change the seed", (now) => (now.seed = Math.round(value))),
  });
  const another = () => edit("Try another seed", (now) => (now.seed += now.count));
  return [
    el("div", { class: "pair" }, bind("count", count), bind("seed", seed)),
    button("Another walk", another, { title: "The same path with another seed" }),
  ];
}
