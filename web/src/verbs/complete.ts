/** Complete: keyframes from clips or posed by pulling joints, goals dragged, tracks drawn; the whole motion follows. */

import { AMBER } from "../colours";
import { button, el, menu, section, slider } from "../dom";
import type { CompleteRequest, Result, VerbFacts } from "../messages";
import {
  type AnyGoal,
  asksForGoals,
  fromDraft,
  goalsOf,
  inOrder,
  LENGTH_S,
  setGoals,
  toDraft,
  tracksOf,
  viewsOf,
  whereInDraft,
} from "../panels/completedraft";
import { LiveDrag } from "../panels/completelive";
import { JointPuller, PosedGhosts, posedOf, poseOf, withPose } from "../panels/completeposed";
import { TrackPen } from "../panels/completetrack";
import { seenBy, ViewGoals } from "../panels/completeview";
import { type Drawn, GoalPanel } from "../panels/goals";
import { cm, degrees, nextTime, setLength, type SolveDraft, type Where } from "../panels/solverequest";
import type { Mode } from "../panels/solvetools";
import { clipNames } from "../panels/clips";
import { missedOf } from "../panels/problems";
import { jobStrip } from "../panels/progress";
import { fileButton } from "../panels/verb";
import { refill } from "../panels/watch";
import type { Context, Marker, Panel, Place } from "../types";
import "./solve.css";

/** Milliseconds within which moves of a slider are one step of undo. */
const SETTLE = 200;
/** Placed on the stage, drawn, or said by the slider. */
const PLACED = ["goals", "duration_s"];
const ON_FIGURE = "Click on the figure";

/** A copy with a change. */
const changed = (request: CompleteRequest, change: (next: CompleteRequest) => void): CompleteRequest => {
  const next = structuredClone(request);
  change(next);
  return next;
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

class CompletePanel extends GoalPanel<CompleteRequest> {
  private readonly pen: TrackPen;
  private readonly length;
  private readonly live: LiveDrag;
  private readonly puller: JointPuller;
  private readonly ghosts: PosedGhosts;
  private readonly views: ViewGoals;
  /** What is drawn or posed on the stage, and stands in no other list. */
  private readonly others = el("ul", { class: "keys", attrs: { "aria-label": "Posed, drawn and seen" } });
  private pullButton: HTMLButtonElement | null = null;
  /** The request with the pose that is being pulled, and which of its goals that is. */
  private pulling: { request: CompleteRequest; goal: number } | null = null;
  private mode: Mode | "track" = "arrow";

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: PLACED }, { duration_s: LENGTH_S });
    this.live = new LiveDrag(context);
    if (window.choreograph) window.choreograph.parts["drag"] = this.live;
    this.ghosts = new PosedGhosts(context.stage);
    this.puller = new JointPuller(context.stage, {
      start: () => this.startPull(),
      move: (joint, to) => this.pull(joint, to),
      end: () => void this.endPull(),
    });
    this.views = new ViewGoals(context.stage, {
      figureJoint: (joint, at_s) => this.onStage.figureJoint(joint, at_s),
      move: (index, seen) => this.try(changed(this.request, (next) => (viewsOf(next)[index]!.seen = seen))),
      end: (index, seen) => this.finish("Move where a camera sees a joint", (next) => (viewsOf(next)[index]!.seen = seen)),
      remove: (index) => this.drop("Remove a camera's view", (request) => viewsOf(request)[index]),
    });
    this.pen = new TrackPen(context.stage, {
      move: (index, points) => this.try(changed(this.request, (next) => (tracksOf(next)[index]!.points = points))),
      end: (index, points) => this.finish("Move a track", (next) => (tracksOf(next)[index]!.points = points)),
      remove: (index) => this.drop("Remove a track", (request) => tracksOf(request)[index]),
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
        this.others,
        el(
          "div",
          { class: "row" },
          button("Clear", () => this.edit("Clear all goals", (request) => this.clear(request)), { kind: "quiet" }),
          fileButton(context, verb, () => this.request),
        ),
      ),
      section("Motion", null, jobStrip(context, [verb.name]), this.facts),
      section("How", "closed", this.form.element),
    );
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.setPulling(false));
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
      this.pullTool(),
      choices("Joint", "Where a joint is at this time: drag it", () => [ON_FIGURE, ...joints()], (name) =>
        name === ON_FIGURE ? this.setMode("joint") : this.addJoint(name),
      ),
      button("Place", () => this.addArrow([0, 0], null), { title: "Where the body is; or press on the floor and drag" }),
      choices("Track", "Draw a joint's way in the view, from this time on", joints, (name) => this.drawTrack(name)),
      choices("View", "Where the camera, as it stands now, is to see a joint at this time", joints, (name) => this.addView(name)),
      choices("Label", "What the motion is like for a while", () => store.state.graph?.labels ?? [], (name) => this.addLabel(name)),
    );
  }

  override hint(): string {
    if (this.mode === "joint") return "Click a joint of the figure, then drag its sphere; with Shift up and down.";
    if (this.mode === "track") return "Draw the joint's way, as seen from here; it lasts as long as the drawing takes.";
    if (this.puller.active) return "Pull a joint of the figure: the body follows, and the pose becomes a keyframe. Turn the camera with the right button.";
    if (!asksForGoals(this.request)) return "Add a pose, or press on the floor where the motion begins.";
    return "Drag what is amber: the motion follows. Press on the floor to place the body.";
  }

  override onShow(): void {
    super.onShow();
    this.draw();
  }

  override onHide(): void {
    super.onHide();
    this.setPulling(false);
    this.pen.stop();
    this.pen.draw({}, false);
    this.ghosts.draw({}, false);
    this.views.draw({}, false);
  }

  protected override ready(): boolean {
    return asksForGoals(this.request);
  }

  // -------------------------------------------------------------- changes

  protected override draftOf(request: CompleteRequest): SolveDraft {
    return toDraft(request);
  }

  protected override order(draft: SolveDraft): void {
    inOrder(draft);
  }

  protected override take(request: CompleteRequest, draft: SolveDraft): void {
    fromDraft(request, draft);
  }

  protected override alter(label: string, change: (ask: SolveDraft) => void, where: Where | null = null, wait = 0): void {
    void this.live.end();
    super.alter(label, change, where, wait);
  }

  private clear(request: CompleteRequest): void {
    delete request.goals;
  }

  protected override placeIn(place: string): Where | null {
    return whereInDraft(this.request, place);
  }

  private now(): number {
    const { player } = this.context.stage;
    const length = this.request.duration_s ?? LENGTH_S;
    return this.resultOnStage() ? cm(Math.min(player.frame / player.fps, length)) : 0;
  }

  protected override addArrow(at: [number, number], heading: number | null): void {
    const { draft } = this;
    const at_s = nextTime(draft, this.resultOnStage() ? this.now() : null);
    const entry = { at_s, position: at, ...(heading === null ? {} : { facing_deg: degrees(heading) }) };
    this.alter("Place the body", (ask) => ask.body.push(entry), { kind: "body", index: draft.body.length });
  }

  protected override addJoint(joint: string): void {
    const at_s = this.now();
    const position = this.jointAt(joint, at_s);
    const index = this.draft.joints.length;
    this.alter("Hold a joint", (ask) => ask.joints.push({ at_s, joint, position }), { kind: "joints", index });
  }

  private addPose(): void {
    const [clip] = clipNames(this.context.store.state, this.verb.subject);
    if (!clip) return;
    const index = this.draft.poses.length;
    const at_s = index === 0 ? 0 : this.now();
    this.alter("Add a keyframe", (ask) => ask.poses.push({ at_s, clip, frame: 0 }), { kind: "poses", index });
  }

  private addLabel(label: string): void {
    const length = this.request.duration_s ?? LENGTH_S;
    const begin = this.draft.labels.at(-1)?.stop_s ?? 0;
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
        request.duration_s = Math.max(request.duration_s ?? LENGTH_S, stop);
        request.goals = [...goalsOf(request), { start_s: start, end_s: stop, joint, points: drawn.points }];
      });
      this.draw();
    });
  }

  protected override setMode(mode: Mode): void {
    this.mode = mode;
    this.onStage.setMode(mode);
    if (this.visible) this.onStage.show(true);
    this.context.refreshHint();
  }

  /** While something is dragged the motion goes along, as often as answers come. */
  protected override tryOut(draft: SolveDraft): void {
    this.try(
      changed(this.request, (next) => {
        inOrder(draft);
        fromDraft(next, draft);
      }),
    );
  }

  private try(request: CompleteRequest): void {
    if (this.resultOnStage()) this.live.move(request);
  }

  /** It was let go: what was tried is asked for. */
  private finish(label: string, change: (request: CompleteRequest) => void): void {
    void this.live.end();
    this.edit(label, change);
    this.draw();
  }

  // -------------------------------------------------------------- poses by hand

  private pullTool(): HTMLElement {
    const made = button("Pull", () => this.setPulling(!this.puller.active), {
      title: "Pull joints of the figure: the body follows, and the pose at this time becomes a keyframe",
    });
    made.setAttribute("aria-pressed", "false");
    this.pullButton = made;
    return made;
  }

  private setPulling(active: boolean): void {
    this.puller.active = active;
    this.pullButton?.setAttribute("aria-pressed", String(active));
    this.context.refreshHint();
  }

  /** The pose that the figure has now becomes a key pose, to be pulled. */
  private startPull(): void {
    const { player } = this.context.stage;
    const row = this.context.stage.row(player.frame);
    if (!row || !this.resultOnStage()) return;
    const request = structuredClone(this.request);
    this.pulling = { request, goal: withPose(request, poseOf(row, this.now())) };
  }

  private pull(joint: string, to: Place): void {
    if (!this.pulling) return;
    const { request, goal } = this.pulling;
    this.live.move(request, { goal, joint, position: [to.x, to.y, to.z] });
  }

  private async endPull(): Promise<void> {
    const { pulling } = this;
    this.pulling = null;
    const made = await this.live.end();
    if (!pulling || !made) return;
    const { frames, motion } = made;
    const at_s = pulling.request.goals![pulling.goal]!.at_s!;
    const width = 3 + 4 * motion.joints.length;
    const first = Math.min(Math.round(at_s * motion.fps), motion.frames - 1) * width;
    const pose = poseOf(frames.subarray(first, first + width), at_s);
    this.edit("Pose by hand", (request) => withPose(request, pose));
    this.draw();
  }

  private addView(joint: string): void {
    const { stage } = this.context;
    const at_s = this.now();
    const place = this.onStage.figureJoint(joint, at_s);
    if (!place) return;
    const shot = stage.camera.shot();
    const three = (values: [number, number, number]) => values.map((value) => Math.round(1000 * value) / 1000) as [number, number, number];
    const camera = { ...shot, position: three(shot.position), target: three(shot.target), aspect: Math.round(1000 * shot.aspect) / 1000 };
    this.edit("Ask where a camera sees a joint", (request) => {
      request.goals = [...goalsOf(request), { at_s, joint, camera, seen: seenBy(camera, place) }];
    });
    this.draw();
  }

  // -------------------------------------------------------------- what is there

  protected override isMade(): boolean {
    return this.length !== undefined;
  }

  protected override drawRest({ ask }: Drawn): void {
    this.length.set(ask.length_s);
    this.showOthers();
    for (const part of [this.pen, this.ghosts, this.views]) if (this.visible) part.draw(this.request, true);
  }

  protected override ways(): Result["path"][] {
    return [];
  }

  private drop(label: string, find: (request: CompleteRequest) => AnyGoal | undefined): void {
    this.edit(label, (request) => {
      const goal = find(request);
      setGoals(request, goalsOf(request).filter((one) => one !== goal));
    });
    this.draw();
  }

  /** What was posed, drawn or asked of a camera, each with its way out. */
  private showOthers(): void {
    const line = (name: string, remove: string, drop: () => void) =>
      el("li", { class: "row" }, el("span", {}, name), button(remove, drop, { icon: "close", iconOnly: true, kind: "quiet" }));
    refill(
      this.others,
      ...posedOf(this.request).map(({ at_s }, n) => line(`Posed by hand, ${at_s} s`, `Remove the pose at ${at_s} s`, () => this.drop("Remove a pose", (request) => posedOf(request)[n]))),
      ...tracksOf(this.request).map(({ joint, start_s, end_s }, n) =>
        line(`Track of ${joint}, ${start_s}–${end_s} s`, `Remove the track of ${joint}`, () =>
          this.drop("Remove a track", (request) => tracksOf(request)[n])),
      ),
      ...viewsOf(this.request).map(({ joint, at_s }, n) =>
        line(`${joint} seen by a camera, ${at_s} s`, `Remove the view of ${joint}`, () =>
          this.drop("Remove a camera's view", (request) => viewsOf(request)[n])),
      ),
    );
  }

  protected override sentence(result: Result): string {
    const missed = missedOf(result.problems).length;
    const goals = missed > 0 ? `${missed} goal${missed === 1 ? "" : "s"} missed` : "all goals met";
    return `Completed in ${result.search_s.toFixed(2)} s; ${goals}`;
  }

  protected override otherMarkers(): Marker[] {
    const { player } = this.context.stage;
    const length = this.request.duration_s ?? LENGTH_S;
    return posedOf(this.request).map((pose, n) => ({
      frame: pose.at_s! * player.fps,
      label: `Posed by hand, ${pose.at_s} s`,
      colour: AMBER,
      move: (frame, done) => {
        const at_s = cm(Math.min(Math.max(frame / player.fps, 0), length));
        if (done && at_s !== pose.at_s) this.edit("Move in time", (request) => (posedOf(request)[n]!.at_s = at_s));
      },
      click: () => player.seek(pose.at_s! * player.fps),
      remove: () => this.drop("Remove a pose", (request) => posedOf(request)[n]),
    }));
  }
}
