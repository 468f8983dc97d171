/** What the panels share that ask for goals at times: a list of them, their places on the stage, and their markers. */

import type { Failure, VerbFacts } from "../messages";
import type { Context, Marker, State } from "../types";
import { canonical } from "./asking";
import type { FormOptions } from "./form";
import { constraintList } from "./solvelist";
import { markers } from "./solvemarks";
import { PoseGhosts } from "./solveposes";
import { type Report, reportsOf } from "./solvereports";
import { cm, pathOf, said, type SolveDraft, type Where, whereOf } from "./solverequest";
import { type Scene, type SolveHooks, SolveStage } from "./solvestage";
import type { Mode } from "./solvetools";
import { type Edit, VerbPanel } from "./verb";

type Coordinates = [number | null, number | null, number | null];
/** What is on the stage beside what was asked for. */
export interface Drawn {
  ask: SolveDraft;
  reports: ReadonlyMap<string, Report>;
  /** Whether the result on the stage is the one that was asked for. */
  fits: boolean;
}

export abstract class GoalPanel<R extends object> extends VerbPanel<R> {
  protected readonly onStage: SolveStage;
  protected readonly list;
  protected chosen: Where | null = null;
  protected readonly refused = new Map<string, string>();
  private marked = "";

  constructor(context: Context, verb: VerbFacts, options: FormOptions, initial: Partial<R>) {
    super(context, verb, options, initial);
    this.onStage = new SolveStage(context.stage, new PoseGhosts(context, () => this.draw()), {
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
  }

  /** The goals of a request, to be changed. */
  protected abstract draftOf(request: R): SolveDraft;
  /** Put goals in order of time. */
  protected abstract order(draft: SolveDraft): void;
  /** Take goals over. */
  protected abstract take(request: R, draft: SolveDraft): void;
  /** The goal that a place in the request names. */
  protected placeIn(place: string): Where | null {
    return whereOf(place);
  }

  /** Whether the panel has all its parts. */
  protected abstract isMade(): boolean;
  /** Show goals in what the panel has beside list and stage. */
  protected abstract drawRest(drawn: Drawn): void;
  /** The motions that are drawn beside the one on the stage. */
  protected abstract ways(fits: boolean): Scene["ways"];
  protected abstract addArrow(at: [number, number], heading: number | null): void;
  protected abstract addJoint(name: string): void;
  protected abstract setMode(mode: Mode): void;
  protected abstract tryOut(draft: SolveDraft): void;

  protected addObstacle(..._: Parameters<SolveHooks["obstacle"]>): void {}

  /** Markers of what stands in no draft. */
  protected otherMarkers(): Marker[] {
    return [];
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

  protected get draft(): SolveDraft {
    return this.draftOf(this.request);
  }

  /** Change the goals; `where` is what stays chosen, wherever it then stands in order. */
  protected alter(label: string, change: (ask: SolveDraft) => void, where: Where | null = null, wait = 0): void {
    if (where) {
      const { draft } = this;
      change(draft);
      const kept = draft[where.kind][where.index];
      this.order(draft);
      const index = (draft[where.kind] as unknown[]).indexOf(kept);
      this.chosen = index < 0 ? null : { kind: where.kind, index };
    }
    const whole = (request: R) => {
      const draft = this.draftOf(request);
      change(draft);
      this.order(draft);
      this.take(request, draft);
    };
    this.edit(label, whole, { settle: wait });
    this.draw();
  }

  protected override edit(label: string, change: (request: R) => void, how: Edit = {}): void {
    this.refused.clear();
    super.edit(label, change, how);
  }

  /** Where a joint of the figure is at a time; at shoulder height where no figure is. */
  protected jointAt(joint: string, at_s: number): Coordinates {
    const here = this.onStage.figureJoint(joint, at_s);
    return here ? [cm(here.x), cm(here.y), cm(here.z)] : [null, 1.2, null];
  }

  protected remove(where: Where): void {
    const name = said(this.draft, where);
    this.chosen = null;
    this.alter(`Remove ${name}`, (ask) => ask[where.kind].splice(where.index, 1));
  }

  protected choose(where: Where | null): void {
    this.chosen = where;
    this.draw();
    if (where) this.element.querySelector(`[data-where="${pathOf(where)}"]`)?.scrollIntoView({ block: "nearest" });
  }

  // -------------------------------------------------------------- what is there

  protected override show(): void {
    this.draw();
  }

  protected override showResult(state: State): void {
    super.showResult(state);
    this.draw();
  }

  /** Problems are drawn at their goals. */
  protected override mark(): void {}

  protected override fail(failure: Failure | null): boolean {
    this.refused.clear();
    const isBeside = super.fail(failure);
    this.draw();
    return isBeside;
  }

  protected override tellAt(where: string, text: string): boolean {
    const found = this.placeIn(where || text);
    if (!found || !this.draft[found.kind][found.index]) return super.tellAt(where, text);
    this.refused.set(pathOf(found), text);
    return true;
  }

  protected draw(): void {
    if (!this.isMade()) return;
    const { draft: ask } = this;
    if (this.chosen && !ask[this.chosen.kind][this.chosen.index]) this.chosen = null;
    const shown = this.resultOnStage();
    const fits = shown !== null && canonical(shown.request) === canonical(this.request);
    const reports = reportsOf(fits ? shown : null, (place) => this.placeIn(place));
    this.list.set({ ask, chosen: this.chosen, reports, refused: this.refused });
    if (this.visible) this.onStage.set({ ask, chosen: this.chosen, reports, ways: this.ways(fits) });
    this.drawRest({ ask, reports, fits });
    if (!this.visible) return;
    this.setMarkers(ask, reports);
    this.context.refreshHint();
  }

  /** Times as markers below the stage. */
  private setMarkers(ask: SolveDraft, reports: ReadonlyMap<string, Report>): void {
    const { stage, timeline } = this.context;
    const hooks = {
      change: (label: string, change: (ask: SolveDraft) => void, where: Where) => this.alter(label, change, where),
      choose: (where: Where) => this.choose(where),
    };
    const wanted = this.resultOnStage() ? [...markers(ask, reports, stage.player, hooks), ...this.otherMarkers()] : [];
    // A marker that is being dragged must not be taken away by candidates that come in meanwhile.
    const key = JSON.stringify([ask, wanted.map(({ frame, colour }) => [frame, colour])]);
    if (key !== this.marked) timeline.setMarkers(wanted);
    this.marked = key;
  }
}
