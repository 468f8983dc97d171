/** The form of solving: what to place, how to search, and the request as a file. */

import { button, el, menu, numberField, section, slider, type Control } from "../dom";
import type { SolveAsk } from "../messages";
import type { Context } from "../types";
import { buildOffer } from "./library";
import { jobStrip } from "./progress";
import { jointNames } from "./solvelist";
import { asDocument, asYaml, setLength } from "./solverequest";
import type { Mode } from "./solvetools";

/** Milliseconds within which moves of a slider are one step of undo. */
const SETTLE = 200;
const ON_FIGURE = "Click on the figure";

export interface FormHooks {
  edit(label: string, change: (ask: SolveAsk) => void, settle?: number): void;
  mode(mode: Mode): void;
  /** Put one down without a pointer. */
  add(mode: Mode): void;
  joint(name: string): void;
  pose(kind: "poses" | "frames"): void;
  label(name: string): void;
  searchOn(): void;
  showCode(): void;
}

export interface Parts {
  problem: HTMLElement;
  list: HTMLElement;
  facts: HTMLElement;
}

export function solveForm(context: Context, hooks: FormHooks, { problem, list, facts }: Parts) {
  const { store } = context;
  const ask = store.state.document.solve;
  const setters: ((ask: SolveAsk) => void)[] = [];
  const tools = new Map<Mode, HTMLButtonElement>();
  const bind = (control: Control<number>, of: (ask: SolveAsk) => number) => {
    setters.push((now) => control.set(of(now)));
    return control.element;
  };
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
    const made = button(
      label,
      () =>
        menu(
          made,
          items().map((name) => ({ label: name, run: () => run(name) })),
        ),
      { title },
    );
    made.setAttribute("aria-haspopup", "menu");
    return made;
  };
  const number = (
    label: string,
    unit: string,
    of: "count" | "seconds" | "seed" | "min_piece_s",
    range: [number, number],
    step: number,
    hint: string,
  ) =>
    bind(
      numberField(unit ? `${label}, ${unit}` : label, {
        min: range[0],
        max: range[1],
        step,
        value: ask[of],
        hint,
        onChange: (value) => hooks.edit(`Change ${label.toLowerCase()}`, (now) => (now[of] = value)),
      }),
      (now) => now[of],
    );
  const length = slider("Length", {
    min: 1,
    max: 60,
    step: 0.5,
    value: ask.length_s,
    format: (value) => `${value.toFixed(1)} s`,
    onInput: (value) => hooks.edit("Change the length", (now) => setLength(now, value), SETTLE),
  });
  const clear = (now: SolveAsk) =>
    Object.assign(now, { body: [], joints: [], poses: [], frames: [], labels: [], obstacles: [] });
  const joint = choices(
    "Joint",
    "Where a joint is at a time",
    () => [ON_FIGURE, ...jointNames(store.state)],
    (name) => (name === ON_FIGURE ? hooks.mode("joint") : hooks.joint(name)),
  );
  const file = (name: string, text: () => string) =>
    button(name, () => download(`request.${name.toLowerCase()}`, text()), {
      icon: "export",
      title: "The request as a file for choreograph solve",
    });
  const element = el(
    "div",
    { class: "solver" },
    buildOffer(context),
    section(
      "Request",
      null,
      bind(length, (now) => now.length_s),
      el(
        "div",
        { class: "placing", attrs: { role: "toolbar", "aria-label": "What to place" } },
        tool("arrow", "Arrow", "Press on the floor: where the body is; drag: where it looks"),
        joint,
        button("Pose", () => hooks.pose("poses"), { title: "A pose like one of a clip" }),
        button("Frame", () => hooks.pose("frames"), { title: "Exactly this frame of a clip" }),
        choices(
          "Label",
          "Motion of a kind for a while",
          () => store.state.graph?.labels ?? [],
          (name) => hooks.label(name),
        ),
        tool("circle", "Circle", "A round obstacle"),
        tool("box", "Box", "A rectangular obstacle"),
        tool("polygon", "Polygon", "An obstacle of any shape, by its corners"),
      ),
      problem,
      list,
      button("Clear", () => hooks.edit("Clear all constraints", clear), { kind: "quiet" }),
    ),
    section(
      "Search",
      null,
      facts,
      jobStrip(context, ["cuts", "solve"]),
      el(
        "div",
        { class: "pair" },
        number("Candidates", "", "count", [1, 12], 1, "How many different motions"),
        number("Search", "s", "seconds", [0.5, 600], 0.5, "How long to search at a time"),
      ),
      el(
        "div",
        { class: "pair" },
        number("Seed", "", "seed", [0, 2 ** 31], 1, "Same seed, same search"),
        number("Least piece", "s", "min_piece_s", [0, 10], 0.05, "No piece of a clip is shorter than this"),
      ),
      button("Search on", () => hooks.searchOn(), { title: "Go on from what is found, for as long again" }),
    ),
    section(
      "Outside the studio",
      "closed",
      el(
        "div",
        { class: "row" },
        file("YAML", () => asYaml(asDocument(store.state.document.solve))),
        file("JSON", () => `${JSON.stringify(asDocument(store.state.document.solve), null, 1)}\n`),
        button("Command, Python", () => hooks.showCode(), { icon: "code", kind: "quiet" }),
      ),
    ),
  );
  return {
    element,
    set: (now: SolveAsk) => setters.forEach((set) => set(now)),
    setMode: (mode: Mode) => tools.forEach((made, name) => made.setAttribute("aria-pressed", String(name === mode))),
  };
}

function download(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  el("a", { attrs: { href, download: name } }).click();
  window.setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
