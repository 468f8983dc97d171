/** Solve: say where the body is when, and what else matters; several motions that do it come, better by the second. */

import { openCode } from "../dialogs/share";
import { el, fill } from "../dom";
import type { ConstraintReport, ObstacleAsk, Result, SolveAsk } from "../messages";
import type { Context, Panel, State } from "../types";
import { canonical } from "./asking";
import { solveForm } from "./solveform";
import { clipNames, constraintList } from "./solvelist";
import { markers } from "./solvemarks";
import { boxOf } from "./solveobstacles";
import { PoseGhosts } from "./solveposes";
import {
  asksForSomething,
  cm,
  degrees,
  nextTime,
  pathOf,
  putInOrder,
  radians,
  said,
  whereOf,
  type Kind,
  type Where,
} from "./solverequest";
import { SolveStage } from "./solvestage";
import type { Mode } from "./solvetools";
import { watch } from "./watch";
import "../panels.css";
import "./solve.css";

/** Milliseconds after which a request that was tried out while dragging makes room for the next, answered or not. */
const TRY_MS = 1000;
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
  private readonly form;
  private visible = false;
  private mode: Mode = "arrow";
  private chosen: Where | null = null;
  /** The request that was last asked or shown. */
  private asked = "";
  private number = 0;
  /** When the latest request that is only tried out was asked, until it is answered. */
  private tried = -Infinity;
  private graph: string | null = null;
  private timer = 0;
  private results: Result[] = [];
  private marked = "";
  private refused: { where: Where | null; text: string } | null = null;

  constructor(private readonly context: Context) {
    const { store, api, stage } = context;
    const ghosts = new PoseGhosts(context, () => this.show());
    this.onStage = new SolveStage(stage, ghosts, {
      arrow: (at, heading) => this.addArrow(at, heading),
      obstacle: (shape, label) => this.addObstacle(shape, label),
      joint: (name) => this.addJoint(name),
      change: (label, edit, where) => this.edit(label, edit, where),
      tryOut: (draft) => this.tryOut(draft),
      remove: (where) => this.remove(where),
      select: (where) => this.choose(where),
      done: () => this.setMode("arrow"),
    });
    this.list = constraintList(context, {
      change: (label, edit, where, settle) => this.edit(label, edit, where, settle),
      remove: (where) => this.remove(where),
      choose: (where) => this.choose(where),
    });
    this.form = solveForm(
      context,
      {
        edit: (label, change, settle) => this.edit(label, change, null, settle),
        mode: (mode) => this.setMode(mode),
        add: (mode) => this.add(mode),
        joint: (name) => this.addJoint(name),
        pose: (kind) => this.addPose(kind),
        label: (name) => this.addLabel(name),
        searchOn: () => this.askNow(),
        showCode: () => {
          const result = this.shownResult() ?? this.results[0];
          if (result) openCode(context, result);
        },
      },
      { problem: this.problem, list: this.list.element, facts: this.facts },
    );
    this.element = this.form.element;
    this.form.setMode(this.mode);
    api.on(
      "answer",
      (message) =>
        message.number === this.number && message.verb === "solve" && this.answered(message.results, message.final),
    );
    api.on(
      "refused",
      ({ number, verb, failure }) => number === this.number && verb === "solve" && this.fail(failure.error),
    );
    watch(
      store,
      [
        (state) => state.document.solve,
        (state) => state.graph?.labels,
        (state) => state.document.clips.map((clip) => clip.name),
      ],
      () => this.show(true),
    );
    watch(store, [(state) => state.graph?.built_from], (state) => this.rebuilt(state.graph?.built_from ?? null));
    watch(store, [(state) => state.view.shown], () => this.show());
  }

  private get ask(): SolveAsk {
    return this.context.store.state.document.solve;
  }

  hint(): string {
    if (!this.context.store.state.graph) return "Build the graph first; then say where the body is when.";
    if (this.mode === "arrow" && this.ask.body.length === 0)
      return "Press on the floor where the motion begins, and drag to where it looks.";
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
    this.marked = "";
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

  /** Put something down without a pointer: before the last arrow, to be moved by its numbers. */
  private add(mode: Mode): void {
    const last = this.ask.body.at(-1);
    const heading = radians(last?.facing_deg ?? 0);
    const ahead = (metres: number, aside = 0): [number, number] => [
      cm((last?.position[0] ?? 0) + metres * Math.sin(heading) + aside * Math.cos(heading)),
      cm((last?.position[1] ?? 0) + metres * Math.cos(heading) - aside * Math.sin(heading)),
    ];
    if (mode === "arrow") this.addArrow(last ? ahead(2) : [0, 0], heading);
    else if (mode === "circle") this.addObstacle({ circle: { centre: ahead(2), radius: 0.5 } }, "Add a round obstacle");
    else if (mode === "box") this.addObstacle({ box: boxOf(ahead(1.5, -0.5), ahead(2.5, 0.5)) }, "Add a box");
    else this.addObstacle({ polygon: { corners: [ahead(1.5), ahead(2.5, -0.5), ahead(2.5, 0.5)] } }, "Add a polygon");
  }

  private addJoint(joint: string): void {
    const at_s = Math.min(this.now() ?? this.ask.length_s / 2, this.ask.length_s);
    const here = this.onStage.figureJoint(joint, at_s);
    this.push("Add a target", "joints", {
      at_s: cm(at_s),
      joint,
      position: here ? [cm(here.x), cm(here.y), cm(here.z)] : [null, 1.2, null],
      velocity: [null, null, null],
      weight: 1,
    });
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
    this.push("Ask for a label", "labels", {
      start_s: cm(length_s / 3),
      stop_s: cm((2 * length_s) / 3),
      label,
      weight: 1,
    });
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
    this.form.setMode(mode);
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

  /** While something is dragged: the motion goes along, as often as answers come. */
  private tryOut(draft: SolveAsk): void {
    const now = performance.now();
    if (now - this.tried < TRY_MS || !asksForSomething(draft) || !this.context.store.state.graph) return;
    this.tried = now;
    putInOrder(draft);
    this.number = this.context.api.ask("solve", { ...draft, count: 1 });
  }

  /** After undo, a reload or a link: show the answers that are known, or ask for them. */
  private askIfNew(): void {
    const key = canonical(this.ask);
    if (!this.visible || !this.context.store.state.graph || key === this.asked) return;
    this.asked = key;
    this.refused = null;
    const known = this.context.store.state.results.filter(
      (result) => result.verb === "solve" && canonical(result.request) === key,
    );
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
    this.tried = -Infinity;
    const rank = Math.max(
      0,
      this.results.findIndex((result) => result.id === this.shownResult()?.id),
    );
    this.results = results;
    const chosen = results[Math.min(rank, results.length - 1)];
    if (chosen && this.visible) {
      const { stage, store } = this.context;
      const fresh = this.shownResult() === null;
      const shown = chosen.motions.map((motion) => motion.id);
      // Before the view's own showing, which leaves it at this: here is known when it is to begin.
      void stage.show(shown, fresh ? {} : { from: "same" }).then(
        () => this.show(),
        (error: Error) => store.say(error.message, "error"),
      );
      store.setView({ shown: shown.slice(0, 1) });
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
    this.form.set(ask);
    const fits = canonical(ask) === this.asked;
    const best = fits
      ? (this.results.find((result) => result.id === this.shownResult()?.id) ?? this.results[0])
      : undefined;
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
    return unmet > 0
      ? `${found}; ${unmet} constraint${unmet === 1 ? "" : "s"} missed`
      : `${found}; all constraints met`;
  }

  /** Times as markers below the stage. */
  private mark(ask: SolveAsk, reports: ReadonlyMap<string, ConstraintReport>): void {
    const { stage, timeline } = this.context;
    const wanted = this.shownResult()
      ? markers(ask, reports, stage.player, {
          change: (label, edit, where) => this.edit(label, edit, where),
          choose: (where) => this.choose(where),
        })
      : [];
    // A marker that is being dragged must not be taken away by candidates that come in meanwhile.
    const key = JSON.stringify([ask, wanted.map(({ frame, colour }) => [frame, colour])]);
    if (key !== this.marked) timeline.setMarkers(wanted);
    this.marked = key;
  }
}

const byScore = (a: Result, b: Result): number => (a.figures.cost ?? 0) - (b.figures.cost ?? 0);
