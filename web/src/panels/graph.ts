/** The graph: how alike clips must be to flow into one another, what that connects, and what falls out. */

import { codeButton } from "../dialogs/share";
import { button, checkbox, el, fill, numberField, section, select, slider } from "../dom";
import type { ClipReport, Coverage, Curve, GraphAsk, GraphSummary } from "../messages";
import type { Context, Panel, State } from "../types";
import { chart, read, WIDEST_M, widestOf } from "./chart";
import { cm, matrixView } from "./matrix";
import { jobStrip, newest, underWay } from "./progress";
import { refill, watch } from "./watch";
import "../panels.css";

/** Milliseconds within which moves of a slider are one step of undo. */
const SETTLE = 400;
/** Seconds of the longest blends, where they are wanted: a step of a walk. */
const LONG_BLEND = 0.6;

export const graph: Panel = {
  verb: "graph",
  title: "Graph",
  mount(left, context) {
    const { store } = context;
    left.append(
      parameters(context),
      summary(context),
      section("Where two clips meet", "closed", matrixView(context)),
    );
    return {
      hint: () => (store.state.graph ? "" : "Build the graph: it finds where clips can flow into one another."),
    };
  },
};

function parameters(context: Context): HTMLElement {
  const { store, api } = context;
  const ask = () => store.state.document.graph;
  const edit = (label: string, change: (ask: GraphAsk) => void) =>
    void store.change(label, (document) => change(document.graph), { settle: SETTLE });
  const setThreshold = (value: number) => edit("Change the threshold", (graph) => (graph.threshold_m = value));

  const words = el("p", { class: "quiet-text figures", attrs: { "aria-live": "polite" } });
  const curve = chart((value) => setThreshold(value));
  let known: Curve | null = null;
  const threshold = slider("Threshold", {
    min: 0,
    max: WIDEST_M,
    step: 0.001,
    value: ask().threshold_m,
    format: cm,
    onInput: setThreshold,
    hint: "Two windows may be this far apart, root mean square per joint, to make a transition",
  });
  const windowed = numberField("Window", {
    min: 0.05,
    max: 2,
    step: 0.001,
    unit: "s",
    value: ask().window_s,
    hint: "Time that two motions are compared and blended over",
    onChange: (value) => edit("Change the window", (graph) => (graph.window_s = value)),
  });
  const rate = numberField("Rate", {
    min: 1,
    max: 240,
    step: 1,
    unit: "Hz",
    value: ask().rate_hz,
    hint: "Frames per second at which clips are compared; they keep their own for output",
    onChange: (value) => edit("Change the rate", (graph) => (graph.rate_hz = value)),
  });
  const goal = select<"none" | "share" | "everything">(
    "Goal",
    [{ value: "none", label: "This threshold" }, { value: "share", label: "A share of the frames" }, {
      value: "everything",
      label: "A part of every clip",
    }],
    "none",
    (value) =>
      edit(
        "Change the goal",
        (graph) => (graph.goal = value === "none" ? null : value === "share" ? 0.9 : "everything"),
      ),
    "With a goal, the threshold is the lowest that reaches it",
  );
  const share = slider("Share of the frames", {
    min: 0.05,
    max: 1,
    step: 0.01,
    value: 0.9,
    format: (value) => `${Math.round(100 * value)} %`,
    onInput: (value) => edit("Change the goal", (graph) => (graph.goal = value)),
  });
  const mirror = checkbox(
    "Also use every clip mirrored",
    ask().mirror,
    (on) => edit("Change mirroring", (graph) => (graph.mirror = on)),
  );
  const long = checkbox(
    "Long blends to clips that stay out",
    ask().max_blend_s !== null,
    (on) => edit("Change long blends", (graph) => (graph.max_blend_s = on ? LONG_BLEND : null)),
  );
  const build = button("Build", () => void start(), { kind: "primary" });
  const start = () => api.start({ kind: "build", ask: {} }).catch((error: Error) => store.say(error.message, "error"));

  const code = codeButton(context, () => "Build", () => ({ kind: "build", ask: {} }));

  watch(store, [(state) => state.document.graph, (state) => state.document.clips.length], (state) => {
    const { threshold_m, window_s, rate_hz, goal: aim, mirror: mirrored, max_blend_s } = state.document.graph;
    threshold.set(threshold_m);
    curve.set(threshold_m);
    windowed.set(Math.round(1000 * window_s) / 1000);
    rate.set(rate_hz);
    goal.set(aim === null ? "none" : aim === "everything" ? "everything" : "share");
    share.element.hidden = typeof aim !== "number";
    if (typeof aim === "number") share.set(aim);
    mirror.set(mirrored);
    long.set(max_blend_s !== null);
    tell();
  });
  watch(store, [(state) => state.jobs, (state) => state.document.clips.length], (state) => {
    const job = newest(state.jobs, ["build"]);
    code.disabled = state.document.clips.length === 0;
    build.disabled = (state.document.clips.length === 0 && !state.archive) || (job !== null && underWay(job));
  });
  // Looking beyond the threshold, which follows a build, makes the curve longer.
  // That of an archive is worked out when it is first looked at.
  const looked = (state: State) => !state.archive || state.view.verb === "graph";
  const measured = (state: State) => (state.graph?.measured ? state.graph.built_from : null);
  watch(store, [measured, (state) => newest(state.jobs, ["joins"])?.state, looked], async (state) => {
    if (!looked(state)) return;
    known = measured(state) ? await api.get<Curve>("/api/graph/curve").catch(() => null) : null;
    curve.setCurve(known);
    threshold.setMax(widestOf(known));
    curve.element.hidden = known === null;
    tell();
  });
  function tell(): void {
    if (known === null) return void (words.textContent = "");
    const { shown, clips, transitions } = read(known, ask().threshold_m);
    const percent = (value: number) => `${Math.round(100 * value)} %`;
    fill(
      words,
      el("span", { class: "key" }, `${percent(shown)} of the frames, `),
      el("span", { class: "key clips" }, `${percent(clips)} of the clips, `),
      `about ${transitions.toLocaleString("en")} transitions`,
    );
  }
  threshold.element.classList.add("over-chart"); // the thumb stands above the line of the curve
  return section(
    "How alike",
    null,
    threshold.element,
    curve.element,
    words,
    goal.element,
    share.element,
    el("div", { class: "pair" }, windowed.element, rate.element),
    mirror.element,
    long.element,
    el("div", { class: "row" }, build, code),
    jobStrip(context, ["build"]),
  );
}

/** What was built, and what fell out of it. */
function summary(context: Context): HTMLElement {
  const { store } = context;
  const element = el("section", { class: "section" });
  const strip = jobStrip(context, ["joins"]);
  watch(store, [(state) => state.graph, (state) => state.document.clips.length, (state) => state.jobs], (state) => {
    refill(
      element,
      el("h2", {}, "What it connects"),
      ...(state.graph ? built(context, state.graph, strip) : [empty(state)]),
    );
  });
  return element;
}

function empty(state: State): HTMLElement {
  const none = state.document.clips.length === 0 && !state.archive;
  return el(
    "div",
    { class: "empty" },
    el(
      "p",
      { class: "quiet-text" },
      none ? "Add clips to the library first: drop motion files anywhere." : "Nothing is built yet. Press Build.",
    ),
  );
}

function built(context: Context, graph: GraphSummary, strip: HTMLElement): HTMLElement[] {
  const lost = graph.clips.filter((clip) => clip.state !== "kept");
  const share = graph.frames > 0 ? Math.round((100 * graph.shown) / graph.frames) : 0;
  const kept = graph.kept_count || graph.clips.length - lost.length;
  const all = graph.clip_count || graph.clips.length;
  const facts = [
    ["Transitions", graph.measured ? graph.transitions.toLocaleString("en") : "…"],
    ["Frames in it", graph.measured ? `${share} %` : "…"],
    ["Clips in it", graph.measured ? `${kept} of ${all}` : `… of ${all}`],
    ["Threshold", cm(graph.threshold_m)],
  ];
  return [
    el(
      "dl",
      { class: "facts" },
      ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
    ),
    ...(graph.current ? [] : [el("p", { class: "note" }, "The clips or the parameters have changed since.")]),
    ...graph.notes.map((note) => el("p", { class: "note" }, note)),
    ...(lost.length > 0 ? [fallen(context, lost), strip] : []),
    ...(graph.coverage ? [abilities(graph.coverage)] : []),
  ];
}

/** What the recordings in the graph can do, and what would bring more. */
function abilities(coverage: Coverage): HTMLElement {
  const metres = (radius: number | null) => (radius === null ? "straight" : `${radius.toFixed(1)} m`);
  const row = (kind: "th" | "td", ...cells: string[]) => el("tr", {}, ...cells.map((text) => el(kind, {}, text)));
  const seconds = (value: number) => `${value.toFixed(1)} s`;
  const speeds = coverage.bands.map(({ said, seconds: inside, left_m, right_m, bent_m }) =>
    inside > 0
      ? row("td", said, seconds(inside), metres(left_m), metres(right_m), metres(bent_m))
      : row("td", said, "none", "–", "–", "–")
  );
  const labels = coverage.labels.map(({ label, seconds: inside, outside_s }) =>
    row("td", label, seconds(inside), seconds(outside_s))
  );
  return el(
    "div",
    { class: "abilities" },
    el("h3", {}, "What it can do"),
    el("table", { class: "figures" }, row("th", "Speed", "Time", "Left to", "Right to", "Bent to"), ...speeds),
    el("p", { class: "quiet-text" }, `Stops: ${coverage.stops}.`),
    labels.length > 0
      ? el("table", { class: "figures" }, row("th", "Label", "In it", "Left out"), ...labels)
      : null,
    coverage.advice.length > 0 ? el("h3", {}, "What would bring more") : null,
    el("ul", {}, ...coverage.advice.map((text) => el("li", {}, sentence(text)))),
  );
}

function fallen(context: Context, lost: readonly ClipReport[]): HTMLElement {
  const { store, api } = context;
  const apply = (clip: ClipReport, threshold: number) =>
    void store
      .change(
        `Bring in ${clip.name}`,
        ({ graph }) => Object.assign(graph, { threshold_m: ceil(threshold), goal: null }),
      )
      .then(() => api.start({ kind: "build", ask: {} }))
      .catch((error: Error) => store.say(error.message, "error"));
  const rows = lost.map((clip) =>
    el(
      "li",
      {},
      el("div", { class: "name" }, clip.name),
      el("p", { class: "quiet-text" }, clip.why),
      clip.join ? el("p", { class: "join" }, sentence(clip.join)) : null,
      clip.joins_at_m !== null
        ? button(`Bring it in at ${cm(clip.joins_at_m)}`, () => apply(clip, clip.joins_at_m!), {
          title: "Set the threshold and build",
        })
        : null,
    )
  );
  const unknown = lost.every((clip) => clip.join === ""); // of an archive, some are looked at
  const find = () => api.start({ kind: "joins", ask: {} }).catch((error: Error) => store.say(error.message, "error"));
  return el(
    "div",
    { class: "fallen" },
    el("h3", {}, lost.length === 1 ? "One clip fell out" : `${lost.length} clips fell out`),
    el("ul", {}, ...rows),
    unknown ? button("Find what would bring them in", () => void find()) : null,
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** To the next tenth of a millimetre, so that the clip is truly in. */
const ceil = (metres: number): number => Math.ceil(metres * 1e4) / 1e4;
