/** Solve: say where the body is when, and what else matters; several motions that do it come, better by the second. */

import { turning } from "../hands";
import type { Failure, Obstacle, Result, SolveRequest, VerbFacts } from "../messages";
import { canonical } from "../panels/asking";
import { solveForm } from "../panels/solveform";
import { constraintList } from "../panels/solvelist";
import { markers } from "../panels/solvemarks";
import { boxOf } from "../panels/solveobstacles";
import { PoseGhosts } from "../panels/solveposes";
import { type Report, reportsOf } from "../panels/solvereports";
import {
  asksForSomething,
  cm,
  degrees,
  drafted,
  KINDS,
  type Kind,
  nextTime,
  pathOf,
  putInOrder,
  radians,
  said,
  settle,
  type SolveDraft,
  type Where,
  whereOf,
} from "../panels/solverequest";
import { SolveStage } from "../panels/solvestage";
import type { Mode } from "../panels/solvetools";
import { clipNames, type Edit, fileButton, VerbPanel } from "../panels/verb";
import type { Context, Panel, State } from "../types";
import "./solve.css";

/** Milliseconds after which a request that was tried out while dragging makes room for the next, answered or not. */
const TRY_MS = 1000;
/** Placed on the stage, or said by the slider. */
const PLACED = [...KINDS, "length_s", "functions", "characters", "meet"];
const MODES: Record<Mode, string> = {
  arrow: "Press on the floor to place an arrow, drag to turn it.",
  joint: "Click a joint of the figure.",
  circle: "Press where the obstacle stands, drag to size it.",
  box: "Drag from one corner of the box to the other.",
  polygon: "Click the corners; a double click ends.",
};

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new SolvePanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class SolvePanel extends VerbPanel<SolveRequest> {
  private readonly onStage: SolveStage;
  private readonly list;
  private readonly controls;
  private mode: Mode = "arrow";
  private chosen: Where | null = null;
  /** When the latest request that is only tried out was asked, until it is answered. */
  private tried = -Infinity;
  private marked = "";
  private readonly refused = new Map<string, string>();

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: PLACED }, { length_s: 8 });
    const ghosts = new PoseGhosts(context, () => this.draw());
    this.onStage = new SolveStage(context.stage, ghosts, {
      arrow: (at, heading) => this.addArrow(at, heading),
      obstacle: (shape, label) => this.addObstacle(shape, label),
      joint: (name) => this.addJoint(name),
      change: (label, change, where) => this.alter(label, change, where),
      tryOut: (draft) => this.tryOut(draft),
      remove: (where) => this.remove(where),
      select: (where) => this.choose(where),
      done: () => this.setMode("arrow"),
    });
    this.list = constraintList(context, verb, {
      change: (label, change, where, wait) => this.alter(label, change, where, wait),
      remove: (where) => this.remove(where),
      choose: (where) => this.choose(where),
    });
    this.controls = solveForm(
      context,
      {
        edit: (label, change, wait) => this.alter(label, change, null, wait),
        mode: (mode) => this.setMode(mode),
        add: (mode) => this.add(mode),
        joint: (name) => this.addJoint(name),
        pose: (kind) => this.addPose(kind),
        label: (name) => this.addLabel(name),
        searchOn: () => this.askNow(),
      },
      {
        problems: this.problems,
        list: this.list.element,
        facts: this.facts,
        form: this.form.element,
        file: fileButton(context, verb, () => this.request),
      },
    );
    this.element.classList.add("solver");
    this.element.append(this.controls.element);
    this.controls.setMode(this.mode);
  }

  private get draft(): SolveDraft {
    return drafted(this.request);
  }

  override hint(): string {
    const { body } = this.draft;
    if (!this.context.store.state.graph) return "Build the graph first; then say where the body is when.";
    if (this.mode === "arrow" && body.length === 0)
      return "Press on the floor where the motion begins, and drag to where it looks.";
    if (this.mode === "arrow" && body.length === 1) return "Now press where it ends.";
    return this.mode === "arrow" ? `${MODES.arrow} ${turning()}` : MODES[this.mode];
  }

  override onShow(): void {
    this.onStage.show(true);
    super.onShow();
  }

  override onHide(): void {
    super.onHide();
    this.onStage.show(false);
    this.context.timeline.setMarkers([]);
    this.marked = "";
  }

  protected override ready(): boolean {
    return asksForSomething(this.draft);
  }

  // -------------------------------------------------------------- changes

  /** Change the constraints; `where` is what stays chosen, wherever it then stands in order. */
  private alter(label: string, change: (ask: SolveDraft) => void, where: Where | null = null, wait = 0): void {
    if (where) {
      const { draft } = this;
      change(draft);
      const kept = draft[where.kind][where.index];
      putInOrder(draft);
      const index = (draft[where.kind] as unknown[]).indexOf(kept);
      this.chosen = index < 0 ? null : { kind: where.kind, index };
    }
    const whole = (request: SolveRequest) => {
      const draft = drafted(request);
      change(draft);
      putInOrder(draft);
      settle(request, draft);
    };
    this.edit(label, whole, { settle: wait });
    this.draw();
  }

  protected override edit(label: string, change: (request: SolveRequest) => void, how: Edit = {}): void {
    this.refused.clear();
    super.edit(label, change, how);
  }

  /** Add an entry to one of the lists, and choose it. */
  private push<K extends Kind>(label: string, kind: K, entry: SolveDraft[K][number]): void {
    const where = { kind, index: this.draft[kind].length };
    this.alter(label, (ask) => (ask[kind] as SolveDraft[K][number][]).push(entry), where);
  }

  private addArrow(at: [number, number], heading: number | null): void {
    const { draft } = this;
    const at_s = nextTime(draft, this.now());
    const before = draft.body.filter((arrow) => arrow.at_s < at_s).at(-1);
    // Where nothing was drawn, on from the arrow before it.
    const facing = heading ?? (before ? Math.atan2(at[0] - before.position[0], at[1] - before.position[1]) : 0);
    this.push("Place an arrow", "body", { at_s, position: at, facing_deg: degrees(facing) });
  }

  /** Put something down without a pointer: before the last arrow, to be moved by its numbers. */
  private add(mode: Mode): void {
    const last = this.draft.body.at(-1);
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
    const { length_s } = this.request;
    const at_s = Math.min(this.now() ?? length_s / 2, length_s);
    const here = this.onStage.figureJoint(joint, at_s);
    const position: [number | null, number | null, number | null] = here
      ? [cm(here.x), cm(here.y), cm(here.z)]
      : [null, 1.2, null];
    this.push("Add a target", "joints", { at_s: cm(at_s), joint, position });
  }

  private addPose(kind: "poses" | "frames"): void {
    const [clip] = clipNames(this.context.store.state);
    if (!clip) return;
    const { length_s } = this.request;
    const at_s = cm(Math.min(this.now() ?? length_s / 2, length_s));
    this.push(kind === "poses" ? "Add a pose" : "Add a hard frame", kind, { at_s, clip, frame: 0 });
  }

  private addLabel(label: string): void {
    const { length_s } = this.request;
    this.push("Ask for a label", "labels", { start_s: cm(length_s / 3), stop_s: cm((2 * length_s) / 3), label });
  }

  private addObstacle(shape: Obstacle, label: string): void {
    this.push(label, "obstacles", shape);
  }

  private remove(where: Where): void {
    const name = said(this.draft, where);
    this.chosen = null;
    this.alter(`Remove ${name}`, (ask) => ask[where.kind].splice(where.index, 1));
  }

  private choose(where: Where | null): void {
    this.chosen = where;
    this.draw();
    if (where) this.element.querySelector(`[data-where="${pathOf(where)}"]`)?.scrollIntoView({ block: "nearest" });
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    this.onStage.setMode(mode);
    this.controls.setMode(mode);
    this.context.refreshHint();
  }

  /** The time on the timeline, if that is of a motion that was solved. */
  private now(): number | null {
    const { player } = this.context.stage;
    return this.resultOnStage() ? cm(player.frame / player.fps) : null;
  }

  /** While something is dragged: the motion goes along, as often as answers come. */
  private tryOut(draft: SolveDraft): void {
    const now = performance.now();
    if (now - this.tried < TRY_MS || !asksForSomething(draft) || !this.context.store.state.graph) return;
    this.tried = now;
    putInOrder(draft);
    const request: SolveRequest = { ...this.request };
    settle(request, draft);
    this.asker.ask({ ...request, count: 1 });
  }

  // -------------------------------------------------------------- what is there

  protected override show(): void {
    this.draw();
  }

  protected override showResult(state: State): void {
    super.showResult(state);
    this.tried = -Infinity;
    this.draw();
  }

  /** Problems are drawn at their constraints. */
  protected override mark(): void {}

  protected override fail(failure: Failure | null): void {
    this.refused.clear();
    super.fail(failure);
    this.draw();
  }

  protected override tellAt(where: string, text: string): boolean {
    const found = whereOf(where || text);
    if (!found || !this.draft[found.kind][found.index]) return super.tellAt(where, text);
    this.refused.set(pathOf(found), text);
    return true;
  }

  private draw(): void {
    if (!this.controls) return; // still being made
    const { draft } = this;
    if (this.chosen && !draft[this.chosen.kind][this.chosen.index]) this.chosen = null;
    this.controls.set(draft);
    const shown = this.resultOnStage();
    const fits = shown && canonical(shown.request) === canonical(this.request) ? shown : null;
    const reports = reportsOf(fits);
    this.list.set({ ask: draft, chosen: this.chosen, reports, refused: this.refused });
    if (!this.visible) return;
    const others = fits ? this.results.filter((result) => result.id !== fits.id) : [];
    this.onStage.set({ ask: draft, chosen: this.chosen, reports, ways: others.map((result) => result.path) });
    this.setMarkers(draft, reports);
    this.context.refreshHint();
  }

  protected override sentence(result: Result): string {
    const count = this.results.length || 1;
    const missed = result.problems.filter(({ where }) => whereOf(where)).length;
    const found = `${count} motion${count === 1 ? "" : "s"} after ${result.search_s.toFixed(1)} s of search`;
    return missed > 0
      ? `${found}; ${missed} constraint${missed === 1 ? "" : "s"} missed`
      : `${found}; all constraints met`;
  }

  /** Times as markers below the stage. */
  private setMarkers(ask: SolveDraft, reports: ReadonlyMap<string, Report>): void {
    const { stage, timeline } = this.context;
    const wanted = this.resultOnStage()
      ? markers(ask, reports, stage.player, {
          change: (label, change, where) => this.alter(label, change, where),
          choose: (where) => this.choose(where),
        })
      : [];
    // A marker that is being dragged must not be taken away by candidates that come in meanwhile.
    const key = JSON.stringify([ask, wanted.map(({ frame, colour }) => [frame, colour])]);
    if (key !== this.marked) timeline.setMarkers(wanted);
    this.marked = key;
  }
}
