/** Physics: a motion goes farther, higher and turns, by handles on the stage, and mechanics finds the rest. */

import { button, el, section } from "../dom";
import type { ContactGoal, Motion, PhysicsRequest, PoseGoal, Result, VerbFacts } from "../messages";
import { Dragging } from "../panels/dragging";
import { MechanicsLayer } from "../panels/mechanics";
import { footprintsOf, PhysicsFeet } from "../panels/physicsfeet";
import { type Goal, goalForms } from "../panels/physicsgoals";
import { type Changes, PhysicsHandles } from "../panels/physicshandles";
import { PhysicsPoses } from "../panels/physicsposes";
import { hipsOf, type Way } from "../panels/physicsway";
import { jobStrip } from "../panels/progress";
import { subjectChooser } from "../panels/subject";
import { fileButton, VerbPanel } from "../panels/verb";
import { watch } from "../panels/watch";
import type { Context, Panel, State } from "../types";

const FIELDS = ["farther_m", "higher_m", "turn_deg"] as const;

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new PhysicsPanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class PhysicsPanel extends VerbPanel<PhysicsRequest> {
  private readonly lead = el("p", { class: "lead" });
  private readonly handles: PhysicsHandles;
  private readonly feet: PhysicsFeet;
  private readonly poses: PhysicsPoses;
  private readonly goals;
  private readonly layer: MechanicsLayer;
  private readonly dragging: Dragging<PhysicsRequest>;
  /** Ways of motions that were fetched, by what they are of. */
  private readonly ways = new Map<string, Way>();
  private readonly solve: HTMLButtonElement;

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, {}, {}, "whole");
    this.layer = new MechanicsLayer(context);
    this.dragging = new Dragging(context, verb.name, this.asker);
    this.handles = new PhysicsHandles(context.stage, {
      change: (label, field, value, done) =>
        this.changed(label, done, (request) => {
          if (value === 0) delete request[field];
          else request[field] = value;
        }),
    });
    this.feet = new PhysicsFeet(context, {
      change: (label, contacts, done) =>
        this.changed(label, done, (request) => setGoals(request, (goal) => !isFoot(goal), contacts)),
    });
    this.poses = new PhysicsPoses(context, {
      change: (label, poses, done) => this.changed(label, done, (request) => setGoals(request, (goal) => !isPose(goal), poses)),
    });
    this.goals = goalForms(verb, (label, change) =>
      this.edit(label, (request) => {
        const goals = structuredClone(request.goals ?? []);
        change(goals);
        setGoals(request, () => false, goals);
      }),
    );
    this.solve = button("Solve", () => this.askNow(true), { kind: "primary", title: "As it is, or with the changes below" });
    const asRecorded = button("No changes", () => this.edit("Take changes back", forget), { title: "As far, as high and as turned as it was" });
    const pose = button("Key pose here", () => this.poses.add(), { title: "Go through the recorded pose at this time; drag its ghost and its mark" });
    this.element.append(
      section(
        "Motion",
        null,
        this.lead,
        subjectChooser(context, verb.name, ({ requests }) => forget(requests[verb.name] as PhysicsRequest | undefined)),
        el("div", { class: "row wrap" }, this.solve, asRecorded, pose, fileButton(context, verb, () => this.request)),
        jobStrip(context, [verb.name]),
        this.problems,
        this.facts,
      ),
      section("On the stage", null, this.layer.element),
      section("Request", "open", this.form.element, this.goals.element),
    );
    watch(context.store, [(state) => state.document.requests[verb.name]], () => this.goals.set(this.request.goals ?? []));
    watch(context.store, [(state) => state.clips], () => this.visible && this.draw());
  }

  override hint(): string {
    if (!this.subject()) return "Choose a clip or a result: a jump, a hop, a few steps.";
    return "Drag the end of the way farther, its apex higher, the arrow at its end round.";
  }

  override onShow(): void {
    super.onShow();
    for (const part of [this.handles, this.feet, this.poses, this.layer]) part.show(true);
    this.draw();
  }

  override onHide(): void {
    super.onHide();
    for (const part of [this.handles, this.feet, this.poses, this.layer]) part.show(false);
    this.context.timeline.setMarkers([]);
  }

  /** While something is dragged it is solved again and again, from the last solution; let go, it is the request. */
  private changed(label: string, done: boolean, change: (request: PhysicsRequest) => void): void {
    if (done) {
      this.dragging.end();
      return this.edit(label, change);
    }
    const dragged = structuredClone(this.request);
    change(dragged);
    if (this.mine()) this.dragging.ask(dragged); // the first time, a whole second and more: once it is let go
  }

  protected override ready(): boolean {
    return this.subject() !== null;
  }

  /** Solving takes a second or more: a handle, a field or the button asks for it, and then undo does. */
  protected override asksByItself(): boolean {
    const id = this.subject()?.id;
    return this.results.some((result) => result.subject === id);
  }

  /** The motion as it was. */
  private subject(state: State = this.context.store.state): Motion | null {
    const id = state.document.subjects[this.verb.name];
    const all = [...state.clips, ...state.results.flatMap((result) => result.motions)];
    return all.find((motion) => motion.id === id) ?? null;
  }

  // -------------------------------------------------------------- what is there

  protected override show(state: State): void {
    const motion = this.subject(state);
    this.solve.disabled = motion === null;
    // Nothing is found yet: the motion itself.
    if (this.visible && motion && !this.mine(state) && state.view.shown[0] !== motion.id) {
      this.context.store.setView({ shown: [motion.id] });
    }
    this.draw();
  }

  protected override showResult(state: State): void {
    super.showResult(state);
    if (this.visible) this.draw();
  }

  /** The result on the stage, if it is made of the motion that is chosen. */
  private mine(state: State = this.context.store.state): Result | null {
    const result = this.resultOnStage(state);
    return result && result.subject === state.document.subjects[this.verb.name] ? result : null;
  }

  private draw(): void {
    this.lead.textContent = this.hint();
    this.context.refreshHint();
    const motion = this.subject();
    const result = this.mine();
    this.layer.set(this.visible ? result : null);
    if (!this.visible || !motion) {
      this.handles.set(null);
      this.feet.set(null);
      return this.poses.set(null);
    }
    const recorded = this.way(motion, this.request.start_s, this.request.end_s);
    const shown = result?.motions[0] ? this.way(result.motions[0]) : recorded;
    if (!recorded || !shown) return; // as soon as they are there
    const made = result?.motions[0] ?? motion;
    const { goals = [], turn_deg = 0 } = this.dragging.request ?? this.request;
    const own = goals.filter(isFoot);
    const contacts = own.length ? own : ((result?.details["footprints"] ?? []) as unknown as ContactGoal[]);
    this.feet.set(result ? { prints: footprintsOf(contacts), asked: own.length > 0, motion: made } : null);
    const first = Math.round((this.request.start_s ?? 0) * motion.fps);
    const last = Math.min(first + recorded.hips.length, motion.frames) - 1;
    const poses = goals.filter(isPose);
    this.poses.set({ poses, subject: motion, first, last, way: shown, motion: made, recorded, turned: turn_deg !== 0 });
    this.handles.set({ way: shown, ahead: recorded.ahead, made: changes(result ? (result.request as PhysicsRequest) : {}) });
  }

  private way(motion: Motion, start_s?: number | null, end_s?: number | null): Way | null {
    const span = [Math.round((start_s ?? 0) * motion.fps), end_s == null ? Infinity : Math.round(end_s * motion.fps) + 1] as const;
    const of = `${motion.id} ${motion.frames} ${motion.fps} ${span.join(" ")}`;
    const known = this.ways.get(of);
    if (known) return known;
    void this.context.api.frames(motion.id).then(
      (frames) => {
        this.ways.set(of, hipsOf(frames, 3 + 4 * motion.joints.length, ...span));
        if (this.ways.size > 64) this.ways.delete(this.ways.keys().next().value!);
        this.draw();
      },
      (error: Error) => this.visible && this.context.store.say(error.message, "error"),
    );
    return null;
  }
}

const isFoot = (goal: Goal): goal is ContactGoal => "foot" in goal;
const isPose = (goal: Goal): goal is PoseGoal => "pose" in goal;

/** Other goals beside those that stay. */
function setGoals(request: PhysicsRequest, stays: (goal: Goal) => boolean, goals: readonly Goal[]): void {
  request.goals = [...(request.goals ?? []).filter(stays), ...goals];
  if (request.goals.length === 0) delete request.goals;
}

const changes = (request: PhysicsRequest): Changes => ({
  farther_m: request.farther_m ?? 0,
  higher_m: request.higher_m ?? 0,
  turn_deg: request.turn_deg ?? 0,
});

/** Changes were those of another motion. */
function forget(request: PhysicsRequest | undefined): void {
  for (const field of FIELDS) delete request?.[field];
  if (request) setGoals(request, (goal) => "hand" in goal, []);
}
