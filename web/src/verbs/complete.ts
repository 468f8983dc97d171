/** Complete: keyframes from clips, joints dragged under the model, tracks drawn; the whole motion follows. */

import { button, el, menu, section, slider } from "../dom";
import type { CompleteRequest, Failure, Result, VerbFacts } from "../messages";
import { canonical } from "../panels/asking";
import { asksForGoals, fromDraft, LENGTH_S, toDraft, tracksOf } from "../panels/completedraft";
import { TrackPen } from "../panels/completetrack";
import { constraintList } from "../panels/solvelist";
import { markers } from "../panels/solvemarks";
import { PoseGhosts } from "../panels/solveposes";
import { reportsOf } from "../panels/solvereports";
import { cm, degrees, nextTime, pathOf, said, setLength, type SolveDraft, type Where, whereOf } from "../panels/solverequest";
import { SolveStage } from "../panels/solvestage";
import type { Mode } from "../panels/solvetools";
import { clipNames, fileButton, VerbPanel } from "../panels/verb";
import { refill } from "../panels/watch";
import type { Context, Panel, State } from "../types";
import "./solve.css";

/** Milliseconds within which moves of a slider are one step of undo. */
const SETTLE = 200;
/** Placed on the stage, drawn, or said by the slider. */
const PLACED = ["poses", "body", "joints", "labels", "length_s", "turns", "angles", "distances", "offsets", "views", "contacts"];
const ON_FIGURE = "Click on the figure";

/** Goals are listed in order of time. */
const inOrder = (draft: SolveDraft): void => {
  draft.body.sort((a, b) => a.at_s - b.at_s);
  draft.poses.sort((a, b) => a.at_s - b.at_s);
};

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new CompletePanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class CompletePanel extends VerbPanel<CompleteRequest> {
  private readonly onStage: SolveStage;
  private readonly pen: TrackPen;
  private readonly list;
  private readonly length;
  private readonly trackList = el("ul", { class: "keys", attrs: { "aria-label": "Tracks" } });
  private chosen: Where | null = null;
  private mode: Mode | "track" = "arrow";
  private marked = "";
  private readonly refused = new Map<string, string>();
  /** What is asked while something is dragged: one request at a time, each would stop the one before it. */
  private dragged: CompleteRequest | null = null;
  private underWay = false;

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: PLACED }, { length_s: LENGTH_S });
    const ghosts = new PoseGhosts(context, () => this.draw());
    this.pen = new TrackPen(context.stage);
    this.onStage = new SolveStage(context.stage, ghosts, {
      arrow: (at, heading) => this.addArrow(at, heading),
      obstacle: () => undefined,
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
    this.length = slider("Length", {
      min: 0.5,
      max: 20,
      step: 0.1,
      value: LENGTH_S,
      format: (value) => `${value.toFixed(1)} s`,
      onInput: (value) => this.alter("Change the length", (now) => setLength(now, value), null, SETTLE),
    });
    this.element.classList.add("completer");
    this.element.append(
      section(
        "Goals",
        null,
        this.length.element,
        this.tools(),
        this.problems,
        this.list.element,
        this.trackList,
        el(
          "div",
          { class: "row" },
          button("Clear", () => this.edit("Clear all goals", (request) => this.clear(request)), { kind: "quiet" }),
          fileButton(context, verb, () => this.request),
        ),
      ),
      section("Motion", null, this.facts),
      section("How", "closed", this.form.element),
    );
    const { api } = context;
    const landed = (message: { verb: string }) => message.verb === verb.name && void this.landed();
    api.on("answer", (message) => message.final && landed(message));
    api.on("refused", landed);
  }

  private tools(): HTMLElement {
    const { store } = this.context;
    const joints = () => store.state.clips[0]?.joints ?? [];
    const choices = (label: string, title: string, items: () => readonly string[], run: (name: string) => void) => {
      const made = button(label, () => menu(made, items().map((name) => ({ label: name, run: () => run(name) }))), { title });
      made.setAttribute("aria-haspopup", "menu");
      return made;
    };
    return el(
      "div",
      { class: "placing", attrs: { role: "toolbar", "aria-label": "What to ask for" } },
      button("Pose", () => this.addPose(), { title: "A keyframe: a pose of a clip at this time" }),
      choices("Joint", "Where a joint is at this time: drag it", () => [ON_FIGURE, ...joints()], (name) =>
        name === ON_FIGURE ? this.setMode("joint") : this.addJoint(name),
      ),
      button("Place", () => this.addArrow([0, 0], null), { title: "Where the body is; or press on the floor and drag" }),
      choices("Track", "Draw a joint's way over the floor, from this time on", joints, (name) => this.drawTrack(name)),
      choices("Label", "What the motion is like for a while", () => store.state.graph?.labels ?? [], (name) => this.addLabel(name)),
    );
  }

  override hint(): string {
    if (this.context.store.state.document.clips.length === 0) return "Add recordings first; the model is learned from them.";
    if (this.mode === "joint") return "Click a joint of the figure, then drag its sphere; with Shift up and down.";
    if (this.mode === "track") return "Draw the joint's way on the floor; it lasts as long as the drawing takes.";
    if (!asksForGoals(this.request)) return "Add a pose, or press on the floor where the motion begins.";
    return "Drag what is amber: the motion follows. Press on the floor to place the body.";
  }

  override onShow(): void {
    this.onStage.show(true);
    super.onShow();
    this.draw();
  }

  override onHide(): void {
    super.onHide();
    this.onStage.show(false);
    this.pen.draw({}, false);
    this.context.timeline.setMarkers([]);
    this.marked = "";
  }

  protected override ready(): boolean {
    return asksForGoals(this.request);
  }

  // -------------------------------------------------------------- changes

  /** Change the goals; `where` is what stays chosen, wherever it then stands in order. */
  private alter(label: string, change: (ask: SolveDraft) => void, where: Where | null = null, wait = 0): void {
    this.dragged = null;
    if (where) {
      const draft = toDraft(this.request);
      change(draft);
      const kept = draft[where.kind][where.index];
      inOrder(draft);
      const index = (draft[where.kind] as unknown[]).indexOf(kept);
      this.chosen = index < 0 ? null : { kind: where.kind, index };
    }
    const whole = (request: CompleteRequest) => {
      const draft = toDraft(request);
      change(draft);
      inOrder(draft);
      fromDraft(request, draft);
    };
    this.refused.clear();
    this.edit(label, whole, { settle: wait });
    this.draw();
  }

  private clear(request: CompleteRequest): void {
    for (const name of PLACED) if (name !== "length_s") delete (request as Record<string, unknown>)[name];
  }

  private now(): number {
    const { player } = this.context.stage;
    const length = this.request.length_s ?? LENGTH_S;
    return this.resultOnStage() ? cm(Math.min(player.frame / player.fps, length)) : 0;
  }

  private addArrow(at: [number, number], heading: number | null): void {
    const draft = toDraft(this.request);
    const at_s = nextTime(draft, this.resultOnStage() ? this.now() : null);
    const entry = { at_s, position: at, ...(heading === null ? {} : { facing_deg: degrees(heading) }) };
    this.alter("Place the body", (ask) => ask.body.push(entry), { kind: "body", index: draft.body.length });
  }

  private addJoint(joint: string): void {
    const at_s = this.now();
    const here = this.onStage.figureJoint(joint, at_s);
    const position: [number | null, number | null, number | null] = here ? [cm(here.x), cm(here.y), cm(here.z)] : [null, 1.2, null];
    const index = toDraft(this.request).joints.length;
    this.alter("Hold a joint", (ask) => ask.joints.push({ at_s, joint, position }), { kind: "joints", index });
  }

  private addPose(): void {
    const [clip] = clipNames(this.context.store.state);
    if (!clip) return;
    const index = toDraft(this.request).poses.length;
    const at_s = index === 0 ? 0 : this.now();
    this.alter("Add a keyframe", (ask) => ask.poses.push({ at_s, clip, frame: 0 }), { kind: "poses", index });
  }

  private addLabel(label: string): void {
    const length = this.request.length_s ?? LENGTH_S;
    const begin = toDraft(this.request).labels.at(-1)?.stop_s ?? 0;
    if (begin >= length) return;
    this.alter("Ask for a behaviour", (ask) => ask.labels.push({ start_s: begin, stop_s: length, label }));
  }

  private drawTrack(joint: string): void {
    const start = this.now();
    this.mode = "track";
    this.context.refreshHint();
    this.pen.start(this.onStage.figureJoint(joint, start), (drawn) => {
      this.setMode("arrow");
      if (!drawn) return this.draw();
      const stop = cm(start + Math.max(drawn.seconds, 0.3));
      this.edit("Draw a track", (request) => {
        request.length_s = Math.max(request.length_s ?? LENGTH_S, stop);
        request.joints = [...(request.joints ?? []), { start_s: start, stop_s: stop, joint, points: drawn.points }];
      });
      this.draw();
    });
  }

  private remove(where: Where): void {
    const name = said(toDraft(this.request), where);
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
    if (this.visible) this.onStage.show(true);
    this.context.refreshHint();
  }

  /** While something is dragged the motion goes along, as often as answers come. */
  private tryOut(draft: SolveDraft): void {
    const request = structuredClone(this.request);
    inOrder(draft);
    fromDraft(request, draft);
    this.dragged = request;
    this.askDragged();
  }

  private askDragged(): void {
    if (!this.dragged || this.underWay) return;
    const request = this.dragged;
    this.dragged = null;
    this.underWay = true;
    this.asker.ask(request, false, true);
  }

  private async landed(): Promise<void> {
    await this.context.stage.loaded.catch(() => undefined);
    this.underWay = false;
    this.askDragged();
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

  protected override fail(failure: Failure | null): void {
    this.refused.clear();
    super.fail(failure);
    this.draw();
  }

  protected override tellAt(where: string, text: string): boolean {
    const found = whereOf(where || text);
    if (!found || !toDraft(this.request)[found.kind][found.index]) return super.tellAt(where, text);
    this.refused.set(pathOf(found), text);
    return true;
  }

  private draw(): void {
    if (!this.length) return; // still being made
    const draft = toDraft(this.request);
    if (this.chosen && !draft[this.chosen.kind][this.chosen.index]) this.chosen = null;
    this.length.set(draft.length_s);
    const shown = this.resultOnStage();
    const fits = shown && canonical(shown.request) === canonical(this.request) ? shown : null;
    const reports = reportsOf(fits);
    this.list.set({ ask: draft, chosen: this.chosen, reports, refused: this.refused });
    this.showTracks();
    if (!this.visible) return;
    this.onStage.set({ ask: draft, chosen: this.chosen, reports, ways: [] });
    this.pen.draw(this.request, true);
    this.setMarkers(draft, reports);
    this.context.refreshHint();
  }

  private showTracks(): void {
    const tracks = tracksOf(this.request);
    const drop = (index: number) =>
      this.edit("Remove a track", (request) => {
        const goal = tracksOf(request)[index];
        request.joints = (request.joints ?? []).filter((one) => one !== goal);
        if (request.joints.length === 0) delete request.joints;
      });
    refill(
      this.trackList,
      ...tracks.map((goal, index) =>
        el(
          "li",
          { class: "row" },
          el("span", {}, `${goal.joint}, ${goal.start_s}–${goal.stop_s} s`),
          button(`Remove the track of ${goal.joint}`, () => drop(index), { icon: "close", iconOnly: true, kind: "quiet" }),
        ),
      ),
    );
  }

  protected override sentence(result: Result): string {
    const missed = result.problems.length;
    const goals = missed > 0 ? `${missed} goal${missed === 1 ? "" : "s"} missed` : "all goals met";
    return `Completed in ${result.search_s.toFixed(2)} s; ${goals}`;
  }

  /** Times as markers below the stage. */
  private setMarkers(ask: SolveDraft, reports: ReturnType<typeof reportsOf>): void {
    const { stage, timeline } = this.context;
    const hooks = {
      change: (label: string, change: (ask: SolveDraft) => void, where: Where) => this.alter(label, change, where),
      choose: (where: Where) => this.choose(where),
    };
    const wanted = this.resultOnStage() ? markers(ask, reports, stage.player, hooks) : [];
    const key = JSON.stringify([ask, wanted.map(({ frame, colour }) => [frame, colour])]);
    if (key !== this.marked) timeline.setMarkers(wanted);
    this.marked = key;
  }
}
