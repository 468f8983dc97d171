/** The controls of performing; every one of them changes the document. */

import { button, checkbox, el, fill, icon, numberField, section, select, slider } from "../dom";
import type { Examples, PerformAsk, Result } from "../messages";
import type { Context } from "../types";
import { refill } from "./watch";

/** Milliseconds within which moves of a slider are one step of undo, and one request. */
const SETTLE = 150;
const BEAM = 0.05;

export interface FormHooks {
  edit(label: string, change: (ask: PerformAsk) => void, options?: { settle?: number }): void;
  /** Let a dot go as this clip went, or take it away. */
  feel(clip: string): void;
}

export interface PerformForm {
  /** Parts of the panel: for ways, for leaders, and for both. */
  path: HTMLElement;
  chosen: HTMLElement;
  leader: HTMLElement;
  paired: HTMLElement;
  reading: HTMLElement;
  setters: ((ask: PerformAsk) => void)[];
  set(ask: PerformAsk, found: Examples | null): void;
  examples(ask: PerformAsk, found: Examples | null, why: string | null): void;
  /** Tell how good the motion on the stage is. */
  result(result: Result | null): void;
  speed(now: number | null, found: Examples | null): void;
  feeling(on: boolean): void;
  fail(text: string | null, where?: string | null): void;
}

export function performForm({ store }: Context, hooks: FormHooks): PerformForm {
  const setters: PerformForm["setters"] = [];
  const errors = new Map<string, (text: string | null) => void>();
  const ask = store.state.document.perform;
  const bind = <T>(
    name: keyof PerformAsk,
    control: { element: HTMLElement; set(value: T): void; setError(text: string | null): void },
    read = (now: PerformAsk): T => now[name] as T,
  ) => {
    setters.push((now) => control.set(read(now)));
    errors.set(name, (text) => control.setError(text));
    return control.element;
  };
  const problem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  const facts = el("p", { class: "quiet-text figures", attrs: { "aria-live": "polite" } });
  const told = el("ul", { class: "told", attrs: { "aria-live": "polite" } });
  const meter = el("p", { class: "meter", hidden: true });
  const pace = el("p", { class: "quiet-text" });
  const said = el("div", {}, facts, problem, told);
  let present: Examples | null = null;

  // -------------------------------------------------------------- the way

  const felt = select<string>("Example", [], "", () => undefined);
  const feel = button("Feel the speed", () => hooks.feel(felt.element.querySelector("select")!.value), {
    icon: "play",
    title: "A dot goes along the floor as the example went",
  });
  const file = el("input", {
    hidden: true,
    attrs: { type: "file", accept: ".csv,text/csv", "aria-label": "Trajectory file" },
  });
  file.addEventListener("change", () => void read());
  const open = button("Open …", () => file.click(), {
    kind: "quiet",
    title: "A way from a .csv file of t, x, z (seconds, metres)",
  });
  const read = async () => {
    const [chosenFile] = file.files ?? [];
    if (!chosenFile) return;
    const samples = samplesOf(await chosenFile.text());
    file.value = "";
    if (typeof samples === "string") return store.say(`${chosenFile.name}: ${samples}`, "error");
    hooks.edit(`Open ${chosenFile.name}`, (now) => (now.samples = samples));
  };
  const clear = button("Clear", () => hooks.edit("Clear the performance", (now) => (now.samples = [])), {
    kind: "quiet",
  });
  const path = section(
    "The way",
    null,
    el("p", { class: "lead" }, "Press on the floor and move as fast as somebody walks."),
    meter,
    pace,
    said,
    felt.element,
    el("div", { class: "row" }, feel, open, file, clear),
    bind(
      "smooth_s",
      slider("Smooth", {
        min: 0,
        max: 1,
        step: 0.05,
        value: ask.smooth_s,
        format: (value) => `${value.toFixed(2)} s`,
        hint: "Over so many seconds: a hand trembles, nobody walks so",
        onInput: (value) => hooks.edit("Smooth the performance", (now) => (now.smooth_s = value), { settle: SETTLE }),
      }),
    ),
    bind(
      "lag_s",
      slider("Behind the hand", {
        min: 1,
        max: 4,
        step: 0.25,
        value: ask.lag_s,
        format: (value) => `${value.toFixed(2)} s`,
        hint: "How far behind the hand the figure is while you perform; the more, the better it knows what comes",
        onInput: (value) => hooks.edit("Change the lag", (now) => (now.lag_s = value), { settle: SETTLE }),
      }),
    ),
  );
  path.classList.add("for-path");

  // -------------------------------------------------------------- examples

  const list = el("ul", { class: "examples", attrs: { "aria-label": "Examples" } });
  const chosenProblem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  const usedIds = (): string[] => (present?.examples ?? []).map(({ clip }) => clip);
  const walks = button("Walks", () => hooks.edit("Learn from the walks", (now) => (now.examples = null)), {
    title: "All clips that are called a walk",
  });
  const all = button(
    "All",
    () => hooks.edit("Learn from all clips", (now) => (now.examples = store.state.document.clips.map(({ id }) => id))),
    { kind: "quiet" },
  );
  const chosen = section("Examples", "closed", chosenProblem, el("div", { class: "row" }, walks, all), list);
  chosen.classList.add("for-path");

  const showList = (now: PerformAsk) => {
    const used = new Set(now.examples ?? usedIds());
    const rows = store.state.document.clips.map(({ id, name }) => {
      const fact = present?.examples.find(({ clip }) => clip === id);
      const about = fact ? `${fact.usual_m_s.toFixed(1)} m/s · ${fact.segments}` : "";
      const box = checkbox(name, used.has(id), (on) =>
        hooks.edit(`${on ? "Learn from" : "Leave out"} ${name}`, (next) => {
          const held = next.examples ?? usedIds();
          next.examples = on ? [...held, id] : held.filter((other) => other !== id);
        }),
      );
      return el(
        "li",
        {
          title: fact
            ? `${fact.seconds.toFixed(1)} s, ${fact.segments} segments, up to ${fact.top_m_s.toFixed(1)} m/s`
            : "",
        },
        box.element,
        el("span", { class: "quiet-text" }, about),
      );
    });
    refill(list, ...rows);
  };

  // -------------------------------------------------------------- leaders

  const led = select<string>("Who leads", [], ask.leader ?? "", (id) =>
    hooks.edit(`Let ${clipName(id)} lead`, (now) => (now.leader = id || null)),
  );
  errors.set("leader", led.setError);
  const clipName = (id: string): string => store.state.document.clips.find((clip) => clip.id === id)?.name ?? "nobody";
  const leader = el("div", {}, led.element);
  const pairProblem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  const paired = el(
    "div",
    {},
    pairProblem,
    bind(
      "cut",
      checkbox(
        "Cut the longer of a pair",
        ask.cut,
        (on) => hooks.edit(on ? "Cut pairs" : "Leave pairs whole", (now) => (now.cut = on)),
        "If both begin together",
      ),
    ),
  );

  // -------------------------------------------------------------- how it is read

  const beam = numberField("Beam", {
    min: 0.001,
    max: 100,
    step: 0.01,
    value: BEAM,
    unit: "m²·s",
    hint: "Sequences that are worse by so much are given up",
    onChange: (value) => hooks.edit("Change the beam", (now) => (now.beam_m2_s = value)),
  });
  setters.push((now) => {
    beam.element.hidden = now.beam_m2_s === null;
    if (now.beam_m2_s !== null) beam.set(now.beam_m2_s);
  });
  errors.set("beam_m2_s", beam.setError);
  const search = select<"exact" | "beam">(
    "Search",
    [
      { value: "exact", label: "exact" },
      { value: "beam", label: "beam" },
    ],
    ask.beam_m2_s === null ? "exact" : "beam",
    (value) =>
      hooks.edit(
        value === "exact" ? "Search exactly" : "Search with a beam",
        (now) => (now.beam_m2_s = value === "exact" ? null : BEAM),
      ),
  );
  setters.push((now) => search.set(now.beam_m2_s === null ? "exact" : "beam"));
  const reading = section(
    "How it is read",
    "closed",
    bind(
      "stretch_s",
      slider("Stretch", {
        min: 0,
        max: 0.6,
        step: 0.01,
        value: ask.stretch_s ?? 0.2,
        format: (value) => `± ${value.toFixed(2)} s`,
        hint: "How much shorter or longer a segment may be played",
        onInput: (value) => hooks.edit("Change the stretch", (now) => (now.stretch_s = value), { settle: SETTLE }),
      }),
      (now) => now.stretch_s ?? present?.stretch_s ?? 0.2,
    ),
    bind(
      "continuity_s",
      slider("Smooth joins", {
        min: 0,
        max: 3,
        step: 0.05,
        value: ask.continuity_s ?? 0.8,
        format: (value) => `${value.toFixed(2)} s`,
        hint: "How much pieces that fit together count against the way itself",
        onInput: (value) => hooks.edit("Change continuity", (now) => (now.continuity_s = value), { settle: SETTLE }),
      }),
      (now) => now.continuity_s ?? present?.continuity_s ?? 0.8,
    ),
    search.element,
    beam.element,
    bind(
      "clean",
      checkbox(
        "Feet still, hands held",
        ask.clean,
        (on) => hooks.edit("Change cleaning", (now) => (now.clean = on)),
        "Planted feet are kept still, and hands that were held are held",
      ),
    ),
    button(
      "As it suits the examples",
      () =>
        hooks.edit("Read it as usual", (now) =>
          Object.assign(now, { stretch_s: null, continuity_s: null, beam_m2_s: null }),
        ),
      { kind: "quiet" },
    ),
  );

  return {
    path,
    chosen,
    leader,
    paired,
    reading,
    setters,
    set(now, found) {
      present = found;
      path.dataset["drawn"] = String(now.samples.length >= 2);
      for (const set of setters) set(now);
      showList(now);
      led.setChoices([
        { value: "", label: "Choose …" },
        ...store.state.document.clips.map(({ id, name }) => ({ value: id, label: name })),
      ]);
      led.set(now.leader ?? "");
      (now.lead === "path" ? said : leader).append(facts, problem, told);
    },
    examples(now, found, why) {
      present = found;
      for (const [box, mode] of [
        [chosenProblem, "path"],
        [pairProblem, "body"],
      ] as const) {
        box.hidden = why === null || now.lead !== mode;
        box.textContent = why;
      }
      if (why !== null && now.lead === "path") (chosen as HTMLDetailsElement).open = true;
      pace.textContent =
        found && now.lead === "path"
          ? `${found.examples.length} examples, ${found.segments} segments, up to ${found.fastest_m_s.toFixed(1)} m/s`
          : "";
      const held = felt.element.querySelector("select")!.value;
      const choices = (found?.examples ?? []).map(({ clip, name, usual_m_s }) => ({
        value: clip,
        label: `${name}, ${usual_m_s.toFixed(1)} m/s`,
      }));
      felt.setChoices(choices);
      const richest = [...(found?.examples ?? [])].sort((a, b) => b.segments - a.segments)[0];
      felt.set(choices.some(({ value }) => value === held) ? held : (richest?.clip ?? ""));
      this.set(now, found);
    },
    result(result) {
      const figures = result?.figures;
      const words = figures
        ? [
            `${figures.seconds.toFixed(1)} s`,
            figures.mean_cm === null
              ? null
              : `${figures.mean_cm.toFixed(1)} cm off on average, ${figures.worst_cm!.toFixed(1)} cm at most`,
            figures.partner_cm === null
              ? null
              : `hands and feet ${figures.partner_cm.toFixed(0)} cm from the true partner's, ` +
                `the root ${figures.partner_root_cm!.toFixed(0)} cm`,
            `${(figures.total_ms / 1000).toFixed(2)} s`,
          ]
        : [];
      facts.textContent = words.filter((word) => word !== null).join("; ");
      fill(told, ...(result?.problems ?? []).map(({ text }) => el("li", { class: "problem" }, icon("warning"), text)));
    },
    speed(now, found) {
      const fastest = found?.fastest_m_s ?? Infinity;
      meter.hidden = now === null;
      meter.classList.toggle("too-fast", now !== null && now > fastest);
      if (now === null) return;
      const haste = now > fastest ? `, faster than any example (${fastest.toFixed(1)})` : "";
      meter.textContent = `${now.toFixed(1)} m/s${haste}`;
      meter.style.setProperty("--share", String(Math.min(1, now / fastest)));
    },
    feeling(on) {
      feel.setAttribute("aria-pressed", String(on));
      feel.querySelector("span")!.textContent = on ? "Stop the dot" : "Feel the speed";
    },
    fail(text, where = null) {
      for (const setError of errors.values()) setError(null);
      const field = where === null ? undefined : errors.get(where.split(".")[0]!);
      if (text !== null && field) field(text);
      problem.hidden = text === null || field !== undefined;
      problem.textContent = text;
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
