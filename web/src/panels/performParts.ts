/** The parts of performing that a plain form cannot be: the way and its speed, the examples, who leads. */

import { button, checkbox, el, section, select, slider } from "../dom";
import type { Examples, PerformRequest } from "../messages";
import type { Context, State } from "../types";
import { clipNames, learnsFromArchive } from "./clips";
import { refill } from "./watch";

/** Words of clips that do not walk. */
const WILDER = ["jog", "run", "jump", "hop", "leap"];

export interface PartHooks {
  edit(label: string, change: (request: PerformRequest) => void): void;
  /** Let a dot go as this clip went, or take it away. */
  feel(clip: string): void;
}

/** Clips that are called walks and nothing wilder; all where there are none. */
export function walks(state: State): string[] {
  const labels = new Map(state.clips.map((motion) => [motion.id, motion.labels.map(({ text }) => text)]));
  const walk = state.document.clips.filter(({ id, name }) => {
    const said = [name, ...(labels.get(`clip:${id}`) ?? [])].join(" ").toLowerCase();
    return said.includes("walk") && !WILDER.some((word) => said.includes(word));
  });
  return (walk.length > 0 ? walk : state.document.clips).map(({ name }) => name);
}

/** The query that finds these clips alone. */
export const namesQuery = (names: readonly string[]): string =>
  names.map((name) => `name:"${name.replaceAll('"', "")}"`).join(" or ") || "not name:*";

/** The clips of such a query; null of another one. */
export function namedClips(query: string | null | undefined): string[] | null {
  if (query === "not name:*") return [];
  const names = [...(query ?? "").matchAll(/name:"([^"]*)"/g)].map(([, name]) => name!);
  return query && namesQuery(names) === query ? names : null;
}

/** The way: what was performed, how fast, and how far behind the figure is meanwhile. */
export function wayPart(context: Context, hooks: PartHooks, ...told: HTMLElement[]) {
  const { store } = context;
  const meter = el("p", { class: "meter", hidden: true });
  const pace = el("p", { class: "quiet-text" });
  const felt = select<string>("Example", [], "", () => undefined);
  const chosen = () => felt.element.querySelector("select")!.value;
  const feel = button("Feel the speed", () => hooks.feel(chosen()), {
    icon: "play",
    title: "A dot goes along the floor as the example went",
  });
  const file = el("input", {
    hidden: true,
    attrs: { type: "file", accept: ".csv,text/csv", "aria-label": "Trajectory file" },
    on: { change: () => void read() },
  });
  const read = async () => {
    const [opened] = file.files ?? [];
    if (!opened) return;
    const samples = samplesOf(await opened.text());
    file.value = "";
    if (typeof samples === "string") return store.say(`${opened.name}: ${samples}`, "error");
    hooks.edit(`Open ${opened.name}`, (now) => (now.samples = samples));
  };
  const open = button("Open …", () => file.click(), { kind: "quiet", title: "A way from a .csv file of t, x, z" });
  const clear = button("Clear", () => hooks.edit("Clear the performance", (now) => delete now.samples), { kind: "quiet" });
  const lag = slider("Behind the hand", {
    min: 1,
    max: 4,
    step: 0.25,
    value: store.state.view.lag_s,
    format: (value) => `${value.toFixed(2)} s`,
    hint: "How far behind the hand the figure is while you perform; the more, the better it knows what comes",
    onInput: (lag_s) => store.setView({ lag_s }),
  });
  store.subscribe((state) => state.view.lag_s, (value) => lag.set(value));
  const element = section(
    "The way",
    null,
    el("p", { class: "lead" }, "Press on the floor and move as fast as somebody walks."),
    meter,
    pace,
    ...told,
    felt.element,
    el("div", { class: "row" }, feel, open, file, clear),
    lag.element,
  );
  element.classList.add("for-path");
  return {
    element,
    examples(found: Examples | null): void {
      const known = found?.examples ?? [];
      pace.textContent = found
        ? `${known.length} examples, ${found.segments} segments, up to ${found.fastest_m_s.toFixed(1)} m/s`
        : "";
      const held = chosen();
      felt.setChoices(known.map(({ name, usual_m_s }) => ({ value: name, label: `${name}, ${usual_m_s.toFixed(1)} m/s` })));
      const richest = [...known].sort((a, b) => b.segments - a.segments)[0];
      felt.set(known.some(({ name }) => name === held) ? held : (richest?.name ?? ""));
    },
    speed(now: number | null, fastest: number): void {
      meter.hidden = now === null;
      meter.classList.toggle("too-fast", now !== null && now > fastest);
      if (now === null) return;
      const haste = now > fastest ? `, faster than any example (${fastest.toFixed(1)})` : "";
      meter.textContent = `${now.toFixed(1)} m/s${haste}`;
      meter.style.setProperty("--share", String(Math.min(1, now / fastest)));
    },
    feeling(on: boolean): void {
      feel.setAttribute("aria-pressed", String(on));
      feel.querySelector("span")!.textContent = on ? "Stop the dot" : "Feel the speed";
    },
  };
}

/** Which clips show how to move. */
export function examplesPart({ store }: Context, hooks: PartHooks) {
  const list = el("ul", { class: "examples", attrs: { "aria-label": "Examples" } });
  const problem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  const learn = (label: string, names: (state: State) => string[]) =>
    hooks.edit(label, (now) => (now.only = namesQuery(names(store.state))));
  const all = (state: State) => state.document.clips.map(({ name }) => name);
  const element = section(
    "Examples",
    "closed",
    problem,
    el(
      "div",
      { class: "row" },
      button("Walks", () => learn("Learn from the walks", walks), { title: "All clips that are called a walk" }),
      button("All", () => learn("Learn from all clips", all), { kind: "quiet" }),
    ),
    list,
  ) as HTMLDetailsElement;
  element.classList.add("for-path");
  return {
    element,
    fail(text: string | null): void {
      problem.hidden = text === null;
      problem.textContent = text;
      if (text !== null) element.open = true;
    },
    set(request: PerformRequest, found: Examples | null): void {
      element.hidden = learnsFromArchive(store.state); // "Only" chooses there
      const named = request.only ? namedClips(request.only) : walks(store.state);
      const used = new Set(named ?? found?.examples.map(({ name }) => name));
      const rows = store.state.document.clips.map(({ name }) => {
        const fact = found?.examples.find((one) => one.name === name);
        const box = checkbox(name, used.has(name), (on) =>
          hooks.edit(`${on ? "Learn from" : "Leave out"} ${name}`, (next) => {
            next.only = namesQuery(on ? [...used, name] : [...used].filter((other) => other !== name));
          }),
        );
        const about = fact && `${fact.seconds.toFixed(1)} s, ${fact.segments} segments, up to ${fact.top_m_s.toFixed(1)} m/s`;
        const short = fact ? `${fact.usual_m_s.toFixed(1)} m/s · ${fact.segments}` : "";
        return el("li", { title: about ?? "" }, box.element, el("span", { class: "quiet-text" }, short));
      });
      refill(list, ...rows);
    },
  };
}

/** Who leads. */
export function leaderPart({ store }: Context, hooks: PartHooks) {
  const led = select<string>("Who leads", [], "", (name) =>
    hooks.edit(`Let ${name || "nobody"} lead`, (now) => (name ? (now.leader = name) : delete now.leader)),
  );
  return {
    element: led.element,
    setError: led.setError,
    set({ leader = "" }: PerformRequest): void {
      const names = clipNames(store.state, "examples").map((name) => ({ value: name, label: name }));
      led.setChoices([{ value: "", label: "Choose …" }, ...names]);
      led.set(leader);
    },
  };
}

/** Rows of t, x, z; rows without a place are gaps. A sentence where it cannot be read. */
export function samplesOf(text: string): [number, number, number][] | string {
  const samples: [number, number, number][] = [];
  for (const [k, line] of text.split(/\r?\n/).entries()) {
    const cells = line.split(",").map((cell) => cell.trim());
    if (line.trim() === "" || line.startsWith("#") || (samples.length === 0 && Number.isNaN(Number(cells[0]))))
      continue;
    const [t, x, z] = cells.map((cell) => (cell === "" ? NaN : Number(cell)));
    if (t === undefined || !Number.isFinite(t) || cells.length < 3) return `line ${k + 1} is not t, x, z`;
    if (!Number.isFinite(x) || !Number.isFinite(z)) continue;
    samples.push([t, x!, z!]);
  }
  return samples.length < 2 ? "a way needs two or more rows of t, x, z" : samples;
}
