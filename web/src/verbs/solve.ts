/** Solve: say where the body is when, and what else matters; several motions that do it come, better by the second. */

import { turning } from "../hands";
import type { Obstacle, Result, SolveRequest, VerbFacts } from "../messages";
import { firstOf } from "../panels/clips";
import { type Drawn, GoalPanel } from "../panels/goals";
import { missedOf } from "../panels/problems";
import { solveForm } from "../panels/solveform";
import { boxOf } from "../panels/solveobstacles";
import {
  asksForSomething,
  cm,
  degrees,
  type Kind,
  nextTime,
  putInOrder,
  radians,
  type SolveDraft,
  type Where,
} from "../panels/solverequest";
import { fromSolveDraft, solveDraft, whereInSolve } from "../panels/completedraft";
import type { Mode } from "../panels/solvetools";
import { clipNames } from "../panels/clips";
import { fileButton } from "../panels/verb";
import type { Context, Panel, State } from "../types";
import "./solve.css";

/** Milliseconds after which a request that was tried out while dragging makes room for the next, answered or not. */
const TRY_MS = 1000;
/** Placed on the stage, or said by the slider. */
const PLACED = ["goals", "scene", "duration_s", "characters", "meet"];
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

class SolvePanel extends GoalPanel<SolveRequest> {
  private readonly controls;
  private mode: Mode = "arrow";
  /** When the latest request that is only tried out was asked, until it is answered. */
  private tried = -Infinity;

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: PLACED }, { duration_s: 8 });
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

  override hint(): string {
    const { body } = this.draft;
    const first = firstOf(this.context.store.state, "say where the body is when");
    if (first) return first;
    if (this.mode === "arrow" && body.length === 0)
      return "Press on the floor where the motion begins, and drag to where it looks.";
    if (this.mode === "arrow" && body.length === 1) return "Now press where it ends.";
    return this.mode === "arrow" ? `${MODES.arrow} ${turning()}` : MODES[this.mode];
  }

  protected override ready(): boolean {
    return asksForSomething(this.draft) || "characters" in this.request;
  }

  // -------------------------------------------------------------- changes

  protected override draftOf(request: SolveRequest): SolveDraft {
    return solveDraft(request);
  }

  protected override order(draft: SolveDraft): void {
    putInOrder(draft);
  }

  protected override take(request: SolveRequest, draft: SolveDraft): void {
    fromSolveDraft(request, draft);
  }

  protected override placeIn(place: string): Where | null {
    return whereInSolve(this.request, place);
  }

  /** Add an entry to one of the lists, and choose it. */
  private push<K extends Kind>(label: string, kind: K, entry: SolveDraft[K][number]): void {
    const where = { kind, index: this.draft[kind].length };
    this.alter(label, (ask) => (ask[kind] as SolveDraft[K][number][]).push(entry), where);
  }

  protected override addArrow(at: [number, number], heading: number | null): void {
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
    else if (mode === "circle") this.addObstacle({ centre: ahead(2), radius_m: 0.5 }, "Add a round obstacle");
    else if (mode === "box") this.addObstacle(boxOf(ahead(1.5, -0.5), ahead(2.5, 0.5)), "Add a box");
    else this.addObstacle({ corners: [ahead(1.5), ahead(2.5, -0.5), ahead(2.5, 0.5)] }, "Add a polygon");
  }

  protected override addJoint(joint: string): void {
    const { length_s } = this.draft;
    const at_s = Math.min(this.now() ?? length_s / 2, length_s);
    this.push("Add a target", "joints", { at_s: cm(at_s), joint, position: this.jointAt(joint, at_s) });
  }

  private addPose(kind: "poses" | "frames"): void {
    const [clip] = clipNames(this.context.store.state, this.verb.subject);
    if (!clip) return;
    const { length_s } = this.draft;
    const at_s = cm(Math.min(this.now() ?? length_s / 2, length_s));
    this.push(kind === "poses" ? "Add a pose" : "Add a hard frame", kind, { at_s, clip, frame: 0 });
  }

  private addLabel(label: string): void {
    const { length_s } = this.draft;
    this.push("Ask for a label", "labels", { start_s: cm(length_s / 3), stop_s: cm((2 * length_s) / 3), label });
  }

  protected override addObstacle(shape: Obstacle, label: string): void {
    this.push(label, "obstacles", shape);
  }

  protected override setMode(mode: Mode): void {
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
  protected override tryOut(draft: SolveDraft): void {
    const now = performance.now();
    if (now - this.tried < TRY_MS || !asksForSomething(draft) || !this.context.store.state.graph) return;
    this.tried = now;
    putInOrder(draft);
    const request: SolveRequest = structuredClone(this.request);
    fromSolveDraft(request, draft);
    this.asker.ask({ ...request, count: 1 });
  }

  // -------------------------------------------------------------- what is there

  protected override showResult(state: State): void {
    this.tried = -Infinity;
    super.showResult(state);
  }

  protected override isMade(): boolean {
    return this.controls !== undefined;
  }

  protected override drawRest({ ask }: Drawn): void {
    this.controls.set(ask);
  }

  protected override ways(fits: boolean): Result["path"][] {
    const shown = this.resultOnStage();
    return fits ? this.results.filter((result) => result.id !== shown?.id).map((result) => result.path) : [];
  }

  protected override sentence(result: Result): string {
    const count = this.results.length || 1;
    const missed = missedOf(result.problems).filter(({ where }) => this.placeIn(where)).length;
    const found = `${count} motion${count === 1 ? "" : "s"} after ${result.search_s.toFixed(1)} s of search`;
    return missed > 0
      ? `${found}; ${missed} constraint${missed === 1 ? "" : "s"} missed`
      : `${found}; all constraints met`;
  }
}
