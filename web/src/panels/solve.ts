/** Solve: say where the body is when, and what else matters; several motions that do it come, better by the second. */

import { button, el, fill, menu, numberField, section, slider, type Control } from "../dom";
import { openCode } from "../dialogs/share";
import type { ConstraintReport, ObstacleAsk, Result, SolveAsk } from "../messages";
import type { Context, Marker, Panel, State } from "../types";
import { AMBER, RED } from "../colours";
import { canonical } from "./asking";
import { buildOffer } from "./library";
import { jobStrip } from "./progress";
import { clipNames, constraintList, jointNames } from "./solvelist";
import { PoseGhosts } from "./solveposes";
import { all, asDocument, asksForSomething, asYaml, cm, degrees, nextTime, pathOf, putInOrder, said, setLength, whereOf, type Kind, type Where } from "./solverequest";
import { SolveStage, type Mode } from "./solvestage";
import { watch } from "./watch";
import "../panels.css";
import "./solve.css";

const MODES: Record<Mode, string> = {
  arrow: "Press on the floor to place an arrow, drag to turn it. The right button turns the camera.",
  joint: "Click a joint of the figure.",
  circle: "Press where the obstacle stands, drag to size it.",
  box: "Drag from one corner of the box to the other.",
  polygon: "Click the corners; a double click ends.",
};

export const solve: Panel = {
  verb: "solve",
  title: "Solve",
  mount(left, context) {
    const panel = new SolvePanel(context);
    left.append(panel.element);
    return panel;
  },
};

class SolvePanel {
  readonly element: HTMLElement;
  private readonly onStage: SolveStage;
  private readonly list;
  private readonly problem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  private readonly facts = el("p", { class: "quiet-text figures", attrs: { "aria-live": "polite" } });
  private readonly tools = new Map<Mode, HTMLButtonElement>();
  private readonly setters: ((ask: SolveAsk) => void)[] = [];
  private visible = false;
  private mode: Mode = "arrow";
  private chosen: Where | null = null;
  /** The request that was last asked or shown. */
  private asked = "";
  private number = 0;
  private graph: string | null = null;
  private timer = 0;
  private results: Result[] = [];
  private refused: { where: Where | null; text: string } | null = null;

  constructor(private readonly context: Context) {
    const { store, api, stage } = context;
    const ghosts = new PoseGhosts(context, () => this.show());
    this.onStage = new SolveStage(stage, ghosts, {
      arrow: (at, heading) => this.addArrow(at, heading),
      obstacle: (shape, label) => this.addObstacle(shape, label),
      joint: (name) => this.addJoint(name),
      change: (label, edit, where) => this.edit(label, edit, where),
      remove: (where) => this.remove(where),
      select: (where) => this.choose(where),
      done: () => this.setMode("arrow"),
    });
    this.list = constraintList(context, {
      change: (label, edit, where, settle) => this.edit(label, edit, where, settle),
      remove: (where) => this.remove(where),
      choose: (where) => this.choose(where),
    });
    this.element = this.build();
    api.on("answer", (message) => message.number === this.number && message.verb === "solve" && this.answered(message.results, message.final));
    api.on("refused", ({ number, verb, failure }) => number === this.number && verb === "solve" && this.fail(failure.error));
    watch(store, [(state) => state.document.solve, (state) => state.graph?.labels, (state) => state.document.clips.map((clip) => clip.name)], () => this.show(true));
    watch(store, [(state) => state.graph?.built_from], (state) => this.rebuilt(state.graph?.built_from ?? null));
    watch(store, [(state) => state.view.shown], () => this.show());
  }

  private get ask(): SolveAsk {
    return this.context.store.state.document.solve;
  }

  hint(): string {
    if (!this.context.store.state.graph) return "Build the graph first; then say where the body is when.";
    if (this.mode === "arrow" && this.ask.body.length === 0) return "Press on the floor where the motion begins, and drag to where it looks.";
    if (this.mode === "arrow" && this.ask.body.length === 1) return "Now press where it ends.";
    return MODES[this.mode];
  }

  onShow(): void {
    this.visible = true;
    this.onStage.show(true);
    // Whoever looked at something else meanwhile comes back to the motion.
    if (this.element.dataset["busy"] !== "true") this.asked = "";
    this.show();
    this.askIfNew();
  }

  onHide(): void {
    this.visible = false;
    this.onStage.show(false);
    this.context.timeline.setMarkers([]);
  }

  // -------------------------------------------------------------- changes

  /** Change the request; `where` is what stays chosen, wherever it then stands in order. */
  private edit(label: string, change: (ask: SolveAsk) => void, where: Where | null = null, settle = 0): void {
    const whole = (ask: SolveAsk) => {
      change(ask);
      putInOrder(ask);
    };
    if (where) {
      const draft = structuredClone(this.ask);
      change(draft);
      const kept = draft[where.kind][where.index];
      putInOrder(draft);
      const index = (draft[where.kind] as unknown[]).indexOf(kept);
      this.chosen = index < 0 ? null : { kind: where.kind, index };
    }
    void this.context.store.change(label, (document) => whole(document.solve), settle ? { settle } : {});
    this.asked = canonical(this.ask);
    this.results = [];
    this.show();
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.askNow(), settle);
  }

  /** Add an entry to one of the lists, and choose it. */
  private push<K extends Kind>(label: string, kind: K, entry: SolveAsk[K][number]): void {
    this.edit(label, (ask) => (ask[kind] as SolveAsk[K][number][]).push(entry), { kind, index: this.ask[kind].length });
  }

  private addArrow(at: [number, number], heading: number | null): void {
    const { ask } = this;
    const at_s = nextTime(ask, this.now());
    const before = ask.body.filter((arrow) => arrow.at_s < at_s).at(-1);
    // Where nothing was drawn, on from the arrow before it.
    const facing = heading ?? (before ? Math.atan2(at[0] - before.position[0], at[1] - before.position[1]) : 0);
    this.push("Place an arrow", "body", { at_s, position: at, facing_deg: degrees(facing), weight: 1 });
  }

  private addJoint(joint: string): void {
    const at_s = Math.min(this.now() ?? this.ask.length_s / 2, this.ask.length_s);
    const here = this.onStage.figureJoint(joint, at_s);
    this.push("Add a target", "joints", { at_s: cm(at_s), joint, position: here ? [cm(here.x), cm(here.y), cm(here.z)] : [null, 1.2, null], velocity: [null, null, null], weight: 1 });
  }

  private addPose(kind: "poses" | "frames"): void {
    const [clip] = clipNames(this.context.store.state);
    if (!clip) return;
    const at_s = cm(Math.min(this.now() ?? this.ask.length_s / 2, this.ask.length_s));
    if (kind === "poses") this.push("Add a pose", "poses", { at_s, clip, frame: 0, weight: 1 });
    else this.push("Add a hard frame", "frames", { at_s, clip, frame: 0, lasts_s: 0 });
  }

  private addLabel(label: string): void {
    const { length_s } = this.ask;
    this.push("Ask for a label", "labels", { start_s: cm(length_s / 3), stop_s: cm((2 * length_s) / 3), label, weight: 1 });
  }

  private addObstacle(shape: Partial<ObstacleAsk>, label: string): void {
    this.push(label, "obstacles", { circle: null, box: null, polygon: null, clearance: 0.3, weight: 1, ...shape });
  }

  private remove(where: Where): void {
    const name = said(this.ask, where);
    this.chosen = null;
    this.edit(`Remove ${name}`, (ask) => ask[where.kind].splice(where.index, 1));
  }

  private choose(where: Where | null): void {
    this.chosen = where;
    this.show();
    if (where) this.element.querySelector(`[data-where="${pathOf(where)}"]`)?.scrollIntoView({ block: "nearest" });
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    this.onStage.setMode(mode);
    for (const [name, tool] of this.tools) tool.setAttribute("aria-pressed", String(name === mode));
    this.context.refreshHint();
  }

  /** The time on the timeline, if that is of a motion that was solved. */
  private now(): number | null {
    const { player } = this.context.stage;
    return this.shownResult() ? cm(player.frame / player.fps) : null;
  }

  // -------------------------------------------------------------- asking

  private askNow(): void {
    const { ask } = this;
    this.asked = canonical(ask);
    this.refused = null;
    if (asksForSomething(ask) && this.context.store.state.graph) {
      this.setBusy(true);
      this.number = this.context.api.ask("solve", ask as unknown as Record<string, unknown>);
    } else {
      this.results = [];
    }
    this.show();
  }

  /** After undo, a reload or a link: show the answers that are known, or ask for them. */
  private askIfNew(): void {
    const key = canonical(this.ask);
    if (!this.visible || !this.context.store.state.graph || key === this.asked) return;
    this.asked = key;
    this.refused = null;
    const known = this.context.store.state.results.filter((result) => result.verb === "solve" && canonical(result.request) === key);
    if (known.length === 0) return this.askNow();
    this.number = 0;
    this.results = [];
    this.answered(known.sort(byScore), true);
  }

  /** Another graph, other answers. */
  private rebuilt(graph: string | null): void {
    const before = this.graph;
    this.graph = graph;
    if (before && graph && before !== graph && this.visible) this.askNow();
    else this.askIfNew();
  }

  private answered(results: Result[], final: boolean): void {
    this.setBusy(!final);
    this.refused = null;
    const rank = Math.max(0, this.results.findIndex((result) => result.id === this.shownResult()?.id));
    this.results = results;
    const chosen = results[Math.min(rank, results.length - 1)];
    if (chosen && this.visible) {
      const { stage, store } = this.context;
      const fresh = this.shownResult() === null;
      const shown = chosen.motions.map((motion) => motion.id);
      // The view's own showing begins at 0; this one comes right after it, takes its place, and knows when to begin.
      store.setView({ shown: shown.slice(0, 1) });
      void stage.show(shown, fresh ? {} : { from: "same" }).then(() => this.show(), (error: Error) => store.say(error.message, "error"));
      if (fresh) stage.player.play();
    }
    this.show();
  }

  private fail(text: string): void {
    this.setBusy(false);
    this.refused = { where: whereOf(text), text };
    this.context.store.say(text, "error");
    this.show();
  }

  private setBusy(busy: boolean): void {
    this.element.dataset["busy"] = String(busy);
  }

  // -------------------------------------------------------------- the form

  private build(): HTMLElement {
    const { context, ask } = this;
    const bind = (control: Control<number>, of: (ask: SolveAsk) => number) => {
      this.setters.push((now) => control.set(of(now)));
      return control.element;
    };
    const tool = (mode: Mode, label: string, title: string) => {
      const made = button(label, () => this.setMode(this.mode === mode ? "arrow" : mode), { title });
      made.setAttribute("aria-pressed", String(mode === this.mode));
      this.tools.set(mode, made);
      return made;
    };
    const choices = (label: string, title: string, items: () => readonly string[], run: (name: string) => void) => {
      const made = button(label, () => menu(made, items().map((name) => ({ label: name, run: () => run(name) }))), { title });
      made.setAttribute("aria-haspopup", "menu");
      return made;
    };
    const number = (label: string, unit: string, of: "count" | "seconds" | "seed" | "min_piece_s", range: [number, number], step: number, hint: string) =>
      bind(numberField(label, { min: range[0], max: range[1], step, value: ask[of], hint, ...(unit ? { unit } : {}), onChange: (value) => this.edit(`Change ${label.toLowerCase()}`, (now) => (now[of] = value)) }), (now) => now[of]);
    const clear = button("Clear", () => this.edit("Clear all constraints", (now) => Object.assign(now, { body: [], joints: [], poses: [], frames: [], labels: [], obstacles: [] })), { kind: "quiet" });
    const length = slider("Length", {
      min: 1, max: 60, step: 0.5, value: ask.length_s, format: (value) => `${value.toFixed(1)} s`,
      onInput: (value) => this.edit("Change the length", (now) => setLength(now, value), null, 200),
    });
    return el(
      "div",
      { class: "solver" },
      buildOffer(context),
      section(
        "Request", null,
        bind(length, (now) => now.length_s),
        el(
          "div", { class: "placing", attrs: { role: "toolbar", "aria-label": "What to place" } },
          tool("arrow", "Arrow", "Press on the floor: where the body is; drag: where it looks"),
          choices("Joint", "Where a joint is at a time", () => ["Click on the figure", ...jointNames(context.store.state)], (name) => (name === "Click on the figure" ? this.setMode("joint") : this.addJoint(name))),
          button("Pose", () => this.addPose("poses"), { title: "A pose like one of a clip" }),
          button("Frame", () => this.addPose("frames"), { title: "Exactly this frame of a clip" }),
          choices("Label", "Motion of a kind for a while", () => context.store.state.graph?.labels ?? [], (name) => this.addLabel(name)),
          tool("circle", "Circle", "A round obstacle"),
          tool("box", "Box", "A rectangular obstacle"),
          tool("polygon", "Polygon", "An obstacle of any shape, by its corners"),
        ),
        this.problem,
        this.list.element,
        clear,
      ),
      section(
        "Search", null,
        this.facts,
        jobStrip(context, ["cuts", "solve"]),
        el("div", { class: "pair" }, number("Candidates", "", "count", [1, 12], 1, "How many different motions"), number("Search", "s", "seconds", [0.5, 600], 0.5, "How long to search at a time")),
        el("div", { class: "pair" }, number("Seed", "", "seed", [0, 2 ** 31], 1, "Same seed, same search"), number("Least piece", "s", "min_piece_s", [0, 10], 0.05, "No piece of a clip is shorter than this")),
        el("div", { class: "row" }, button("Search on", () => this.askNow(), { title: "Go on from what is found, for as long again" })),
      ),
      section("Outside the studio", "closed", el(
        "div", { class: "row" },
        button("YAML", () => download("request.yaml", asYaml(asDocument(this.ask))), { icon: "export", title: "The request as a file for choreograph solve" }),
        button("JSON", () => download("request.json", `${JSON.stringify(asDocument(this.ask), null, 1)}\n`), { icon: "export", title: "The request as a file for choreograph solve" }),
        button("Command, Python", () => {
          const result = this.shownResult() ?? this.results[0];
          if (result) openCode(context, result);
        }, { icon: "code", kind: "quiet" }),
      )),
    );
  }

  // -------------------------------------------------------------- what is there

  private shownResult(): Result | null {
    const { results, view } = this.context.store.state;
    return results.find((result) => result.verb === "solve" && result.motions[0]?.id === view.shown[0]) ?? null;
  }

  /** `changed`: the request may be another one, by undo, redo or a link; a change of another tab is answered there. */
  private show(changed = false): void {
    const { state } = this.context.store;
    const { solve: ask } = state.document;
    if (this.chosen && !ask[this.chosen.kind][this.chosen.index]) this.chosen = null;
    for (const set of this.setters) set(ask);
    const fits = canonical(ask) === this.asked;
    const best = fits ? (this.results.find((result) => result.id === this.shownResult()?.id) ?? this.results[0]) : undefined;
    const reports = new Map<string, ConstraintReport>((best?.errors ?? []).map((report) => [report.where, report]));
    const problems = (fits && this.results.find((result) => result.problems.length > 0)?.problems) || [];
    const wrong = new Map(problems.flatMap(({ where, text }) => (where ? [[where, text]] : []) as [string, string][]));
    if (this.refused?.where) wrong.set(pathOf(this.refused.where), this.refused.text);
    this.list.set({ ask, chosen: this.chosen, reports, wrong });
    this.problem.hidden = !this.refused || this.refused.where !== null;
    fill(this.problem, this.refused?.text ?? "");
    this.facts.textContent = this.sentence(state, best);
    if (!this.visible) return;
    const others = fits ? this.results.filter((result) => result.id !== best?.id) : [];
    this.onStage.set({ ask, chosen: this.chosen, reports, problems, ways: others.map((result) => result.path) });
    this.mark(ask, reports);
    this.context.refreshHint();
    if (changed && document.hasFocus()) this.askIfNew();
  }

  private sentence(state: State, best: Result | undefined): string {
    if (!state.graph || !asksForSomething(this.ask)) return "";
    if (!best) return "";
    const unmet = best.errors.filter((report) => !report.met).length;
    const found = `${this.results.length} motion${this.results.length === 1 ? "" : "s"} after ${(best.figures.search_ms / 1000).toFixed(1)} s of search`;
    return unmet > 0 ? `${found}; ${unmet} constraint${unmet === 1 ? "" : "s"} missed` : `${found}; all constraints met`;
  }

  /** Times as markers below the stage. */
  private mark(ask: SolveAsk, reports: ReadonlyMap<string, ConstraintReport>): void {
    const { player } = this.context.stage;
    if (!this.shownResult() || player.fps <= 0) return this.context.timeline.setMarkers([]);
    const at = (where: Where, time: number, set: (ask: SolveAsk, time: number) => void): Marker => ({
      frame: time * player.fps,
      label: said(ask, where),
      colour: reports.get(pathOf(where))?.met === false ? RED : AMBER,
      move: (frame, done) => done && this.edit("Move in time", (now) => set(now, cm(Math.min(Math.max(frame / player.fps, 0), now.length_s))), where),
      click: () => {
        player.seek(time * player.fps);
        this.choose(where);
      },
    });
    const markers = all(ask).flatMap((where): Marker[] => {
      const { kind, index } = where;
      if (kind === "obstacles") return [];
      if (kind === "labels") {
        const { start_s, stop_s } = ask.labels[index]!;
        return [at(where, start_s, (now, time) => (now.labels[index]!.start_s = time)), at(where, stop_s, (now, time) => (now.labels[index]!.stop_s = time))];
      }
      return [at(where, ask[kind][index]!.at_s, (now, time) => (now[kind][index]!.at_s = time))];
    });
    const key = JSON.stringify(markers.map(({ frame, label, colour }) => [frame, label, colour]));
    // A marker that is being dragged must not be taken away by candidates that come in meanwhile.
    if (key !== this.marked) this.context.timeline.setMarkers(markers);
    this.marked = key;
  }

  private marked = "";
}

const byScore = (a: Result, b: Result): number => (a.figures.cost ?? 0) - (b.figures.cost ?? 0);

function download(name: string, text: string): void {
  const link = el("a", { attrs: { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name } });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
