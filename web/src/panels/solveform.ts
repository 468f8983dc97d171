/** The controls of solving: what to place, its length, and how to search. */

import { button, el, menu, section, slider } from "../dom";
import type { Context } from "../types";
import { buildOffer } from "./library";
import { jobStrip } from "./progress";
import { KINDS, setLength, type SolveDraft } from "./solverequest";
import type { Mode } from "./solvetools";

/** Milliseconds within which moves of a slider are one step of undo. */
const SETTLE = 200;
const ON_FIGURE = "Click on the figure";

export interface FormHooks {
  edit(label: string, change: (ask: SolveDraft) => void, settle?: number): void;
  mode(mode: Mode): void;
  /** Put one down without a pointer. */
  add(mode: Mode): void;
  joint(name: string): void;
  pose(kind: "poses" | "frames"): void;
  label(name: string): void;
  searchOn(): void;
}

export interface Parts {
  problems: HTMLElement;
  list: HTMLElement;
  facts: HTMLElement;
  form: HTMLElement;
  file: HTMLElement;
}

export function solveForm(context: Context, hooks: FormHooks, parts: Parts) {
  const { store } = context;
  const tools = new Map<Mode, HTMLButtonElement>();
  const tool = (mode: Mode, label: string, title: string) => {
    const pressed = () => made.getAttribute("aria-pressed") === "true";
    const press = (event: MouseEvent) => {
      // By a key there is no place on the floor: one is put down at once.
      if (event.detail === 0) hooks.add(mode);
      else hooks.mode(pressed() ? "arrow" : mode);
    };
    const made = button(label, press, { title });
    tools.set(mode, made);
    return made;
  };
  const choices = (label: string, title: string, items: () => readonly string[], run: (name: string) => void) => {
    const open = () => menu(made, items().map((name) => ({ label: name, run: () => run(name) })));
    const made = button(label, open, { title });
    made.setAttribute("aria-haspopup", "menu");
    return made;
  };
  const length = slider("Length", {
    min: 1,
    max: 60,
    step: 0.5,
    value: 8,
    format: (value) => `${value.toFixed(1)} s`,
    onInput: (value) => hooks.edit("Change the length", (now) => setLength(now, value), SETTLE),
  });
  const joint = choices(
    "Joint",
    "Where a joint is at a time",
    () => [ON_FIGURE, ...(store.state.clips[0]?.joints ?? [])],
    (name) => (name === ON_FIGURE ? hooks.mode("joint") : hooks.joint(name)),
  );
  const clear = (now: SolveDraft) => KINDS.forEach((kind) => (now[kind] = []));
  const labels = () => store.state.graph?.labels ?? [];
  const placing = el(
    "div",
    { class: "placing", attrs: { role: "toolbar", "aria-label": "What to place" } },
    tool("arrow", "Arrow", "Press on the floor: where the body is; drag: where it looks"),
    joint,
    button("Pose", () => hooks.pose("poses"), { title: "A pose like one of a clip" }),
    button("Frame", () => hooks.pose("frames"), { title: "Exactly this frame of a clip" }),
    choices("Label", "Motion of a kind for a while", labels, (name) => hooks.label(name)),
    tool("circle", "Circle", "A round obstacle"),
    tool("box", "Box", "A rectangular obstacle"),
    tool("polygon", "Polygon", "An obstacle of any shape, by its corners"),
  );
  const element = el(
    "div",
    {},
    buildOffer(context),
    section(
      "Request",
      null,
      length.element,
      placing,
      parts.problems,
      parts.list,
      el("div", { class: "row" }, button("Clear", () => hooks.edit("Clear all constraints", clear), { kind: "quiet" }), parts.file),
    ),
    section(
      "Search",
      null,
      parts.facts,
      jobStrip(context, ["prepare", "solve"]),
      button("Search on", () => hooks.searchOn(), { title: "Go on from what is found, for as long again" }),
      parts.form,
    ),
  );
  return {
    element,
    set: ({ length_s }: SolveDraft) => length.set(length_s),
    setMode: (mode: Mode) => tools.forEach((made, name) => made.setAttribute("aria-pressed", String(name === mode))),
  };
}
