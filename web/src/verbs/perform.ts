/** Perform: motion controlled by example. A way drawn in its own time, or somebody who leads. */

import { TEAL } from "../colours";
import { el, section, select, toggle } from "../dom";
import { turning } from "../hands";
import type { Examples, PerformRequest, Result, VerbFacts } from "../messages";
import { canonical } from "../panels/asking";
import { clipCalled, findClip, learnsFromArchive } from "../panels/clips";
import { pairsEditor } from "../panels/performPairs";
import { examplesPart, leaderPart, namedClips, namesQuery, walks, wayPart, type PartHooks } from "../panels/performParts";
import { holdsOf, piecesView } from "../panels/performPieces";
import { Way, type Sample } from "../panels/performWay";
import { jobStrip } from "../panels/progress";
import { fileButton, VerbPanel } from "../panels/verb";
import type { Context, GhostOverlay, Panel, SphereOverlay, State } from "../types";
import "./perform.css";

/** Most hands that can hold each other. */
const HANDS = 2;
/** Performed, chosen or paired in the panel; `answers` and `trajectory` are files. */
const CHOSEN = ["leader", "trajectory", "samples", "answers", "pairs", "lead_joints"];

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new PerformPanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class PerformPanel extends VerbPanel<PerformRequest> {
  private readonly way: Way;
  private readonly wayPart;
  private readonly examplesPart;
  private readonly leaderPart;
  private readonly pairs;
  private readonly pieces;
  private readonly grips: SphereOverlay[];
  /** What leads: a way, or a body. */
  private lead: "path" | "body" = "path";
  /** The performance that frames are shown of while it goes on. */
  private live = 0;
  private examples: Examples | null = null;
  private examplesOf = "";
  private wantsPartner = false;
  private partner: { ghost: GhostOverlay; fps: number } | null = null;
  private readonly partnerButton = toggle("Show the true partner", false, (on) => {
    this.partnerButton.set(on);
    this.wantsPartner = on;
    this.showResult(this.context.store.state);
  });
  private readonly leads = select<"path" | "body">(
    "What leads",
    [
      { value: "path", label: "my hand" },
      { value: "body", label: "a dancer" },
    ],
    "path",
    (value) => this.setLead(value),
  );

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: CHOSEN });
    const { stage, api, store } = context;
    const hooks: PartHooks = {
      edit: (label, change) => this.edit(label, change),
      feel: (clip) => void this.feel(clip),
    };
    this.wayPart = wayPart(context, hooks, this.facts, this.problems);
    this.examplesPart = examplesPart(context, hooks);
    this.leaderPart = leaderPart(context, hooks);
    this.pairs = pairsEditor(context, {
      change: (label, pairs) => this.edit(label, (request) => (pairs ? (request.pairs = pairs) : delete request.pairs)),
    });
    this.pieces = piecesView(context);
    this.way = new Way(stage, {
      moved: (samples, first) =>
        (this.live = api.moved(samples, first ? this.beginning() : null, store.state.view.lag_s)),
      done: (samples) => this.done(samples),
      cancelled: () => this.giveUp(),
      speed: (now) => this.wayPart.speed(now, this.examples?.fastest_m_s ?? Infinity),
    });
    api.on("partial", (message, frames) => {
      if (message.number !== this.live || !frames || !this.way.performing) return;
      // More is coming: the figure waits for it at the end, instead of beginning anew.
      const motion = { ...message.motion, frames: message.motion.frames + Math.round(message.motion.fps) };
      stage.stream(this.live, motion, message.start, frames, 2);
      if (!stage.player.playing) stage.player.play();
    });
    api.on("refused", (message) => message.number === this.live && this.fail(message.failure));
    this.grips = Array.from({ length: HANDS }, () => stage.addSphere([0, 0, 0], { colour: TEAL, radius: 0.05 }));
    for (const grip of this.grips) grip.visible = false;
    stage.player.subscribe(() => this.follow());
    this.build();
  }

  private build(): void {
    const bodies = [
      section("Leader", null, this.leaderPart.element, this.partnerButton),
      section("Pairs", null, this.pairs.element),
    ];
    for (const part of bodies) part.classList.add("for-body");
    this.element.append(
      section(
        "Perform",
        null,
        el("div", { class: "row" }, this.leads.element, fileButton(this.context, this.verb, () => this.wanted())),
        jobStrip(this.context, ["prepare", this.verb.name]),
      ),
      this.wayPart.element,
      ...bodies,
      this.examplesPart.element,
      section("How it is read", "closed", this.form.element),
      section("Made of", "open", this.pieces.element),
    );
  }

  override hint(): string {
    if (this.lead === "body") return this.request.leader ? "The tinted figure leads." : "Choose the clip that leads.";
    return (this.request.samples?.length ?? 0) < 2
      ? "Press on the floor and move as fast as somebody walks: a figure follows."
      : `Press and move to perform it anew. ${turning()}`;
  }

  override onHide(): void {
    super.onHide();
    this.way.show(false);
    this.wayPart.feeling(false);
    this.hideGrips();
    this.context.timeline.setMarkers([]);
  }

  // -------------------------------------------------------------- the request

  /** The request with the examples that are meant where it names none: the library's walks answer a way. */
  private wanted(): PerformRequest {
    const { request } = this;
    const { state } = this.context.store;
    if (this.lead !== "path" || request.only || learnsFromArchive(state)) return request;
    return { ...request, only: namesQuery(walks(state)) };
  }

  /** What is answered while it is performed. */
  private beginning() {
    const { samples: _, ...begin } = this.wanted();
    return JSON.parse(JSON.stringify(begin)) as Parameters<Context["api"]["moved"]>[1];
  }

  protected override edit(label: string, change: (request: PerformRequest) => void, how = {}): void {
    const meant = this.wanted().only;
    super.edit(
      label,
      (request) => {
        change(request);
        if (this.lead === "path" && meant) request.only ??= meant;
        if (this.lead === "path") delete request.leader;
        else if (namedClips(request.only)) delete request.only;
      },
      how,
    );
  }

  /** What was said for one of the two is kept: the other one leads when it is there. */
  private setLead(lead: "path" | "body"): void {
    this.lead = lead;
    this.element.dataset["lead"] = lead;
    if (lead === "body") this.edit("Lead and follow", (request) => delete request.samples);
    else this.edit("Perform a path", (request) => delete request.leader);
  }

  protected override ready({ samples, leader, trajectory }: PerformRequest): boolean {
    return this.lead === "path" ? (samples?.length ?? 0) >= 2 || Boolean(trajectory) : Boolean(leader);
  }

  /** The hand was lifted: the whole is asked for, and replaces what was shown meanwhile. */
  private done(samples: Sample[]): void {
    this.live = 0;
    this.edit(`Perform ${samples.at(-1)![0].toFixed(1)} s`, (request) => (request.samples = samples));
  }

  /** What was there before comes back. */
  private giveUp(): void {
    const streamed = this.live !== 0;
    this.live = 0;
    if (!streamed || !this.visible) return;
    const { store, stage } = this.context;
    const ids = store.state.view.shown.flatMap((id) => {
      const result = store.state.results.find(({ motions }) => motions[0]?.id === id);
      return result ? result.motions.map((motion) => motion.id) : [id];
    });
    void stage.show(ids).catch((error: Error) => store.say(error.message, "error"));
  }

  // -------------------------------------------------------------- examples

  /** Ask what performances are made of, if that may be another thing now. */
  private async look(state: State): Promise<void> {
    const { pairs = null, cut_to_shorter = false, leader, only = null } = this.wanted();
    const of = this.lead === "path" ? { only } : { pairs, cut_to_shorter, leader, only };
    const key = canonical([this.lead, of, state.document.clips]);
    if (key === this.examplesOf || !this.hasSubject(state) || (this.lead === "body" && !leader)) return;
    this.examplesOf = key;
    let [found, why]: [Examples | null, string | null] = [null, null];
    try {
      found = await this.context.api.send<Examples>("POST", "/api/perform/examples", { request: of });
    } catch (error) {
      why = (error as Error).message;
    }
    if (key !== this.examplesOf) return;
    this.examples = found;
    this.wayPart.examples(found);
    this.examplesPart.fail(this.lead === "path" ? why : null);
    this.leaderPart.setError(this.lead === "body" ? why : null);
    this.show(this.context.store.state);
  }

  /** A dot goes as an example went; again takes it away. */
  private async feel(name: string): Promise<void> {
    if (this.way.feeling) {
      this.way.still();
      return this.wayPart.feeling(false);
    }
    const { api, store } = this.context;
    try {
      const id = await findClip(this.context, name);
      if (!id) return;
      const [motion, frames] = await Promise.all([api.motion(id), api.frames(id)]);
      const width = 3 + 4 * motion.joints.length;
      const track = Array.from({ length: motion.frames }, (_, k): [number, number] => [
        frames[k * width]!,
        frames[k * width + 2]!,
      ]);
      if (!this.visible) return;
      this.way.feel(track, motion.fps, motion.name);
      this.context.stage.camera.frame(track);
      this.wayPart.feeling(true);
    } catch (error) {
      store.say((error as Error).message, "error");
    }
  }

  // -------------------------------------------------------------- what is there

  protected override show(state: State): void {
    const { request } = this;
    if (request.leader) this.lead = "body";
    else if (request.samples) this.lead = "path";
    this.leads.set(this.lead);
    this.element.dataset["lead"] = this.lead;
    this.wayPart.element.dataset["drawn"] = String((request.samples?.length ?? 0) >= 2);
    (this.lead === "path" ? this.wayPart.element : this.leaderPart.element).append(this.facts, this.problems);
    this.examplesPart.set(request, this.examples);
    this.leaderPart.set(request);
    this.pairs.set(request, this.examples);
    this.partnerButton.hidden = !this.examples?.examples.some(({ leader }) => leader !== null && leader === request.leader);
    this.way.set(request.samples ?? []);
    if (!this.visible) return;
    this.way.show(this.lead === "path");
    void this.look(state);
  }

  /** What the motion on the stage is made of, and red where it could not keep up. */
  protected override showResult(state: State): void {
    this.partner = null;
    super.showResult(state);
    if (!this.visible) return;
    const result = this.resultOnStage(state);
    this.pieces.set(result);
    this.context.timeline.setMarkers(result ? this.pieces.markers(result) : []);
    if (result) this.addPartner(result);
    this.follow();
  }

  /** Beside the answer, as a ghost, whoever was really recorded with the leader. */
  private addPartner(result: Result): void {
    const { stage, store } = this.context;
    const partner = this.examples?.examples.find(({ leader }) => leader !== null && leader === result.request["leader"]);
    const clip = partner && clipCalled(store.state, partner.name);
    const motion = store.state.clips.find(({ id }) => id === clip);
    if (!this.wantsPartner || !motion) return;
    this.partner = { ghost: stage.addGhost(motion.id, 0, { colour: "#98a1af" }), fps: motion.fps };
    this.keepMark(this.partner.ghost);
  }

  private hideGrips(): void {
    for (const grip of this.grips) if (grip.visible) grip.visible = false;
  }

  /** What changes with time: where hands are held, and where the true partner was. */
  private follow(): void {
    if (!this.visible) return;
    const { stage } = this.context;
    const result = this.resultOnStage();
    const [follower, leader] = result?.motions ?? [];
    const { frame } = stage.player;
    this.partner?.ghost.update(Math.round((frame / stage.player.fps) * this.partner.fps));
    const held = follower && leader ? holdsOf(result!).filter(({ start, stop }) => frame >= start && frame < stop) : [];
    this.grips.forEach((grip, k) => {
      const hold = held[k];
      const mine = hold ? stage.jointAt(follower!.id, hold.joint, frame) : null;
      const theirs = hold ? stage.jointAt(leader!.id, hold.other, (frame / follower!.fps) * leader!.fps) : null;
      const shown = mine !== null && theirs !== null;
      if (shown) grip.update([(mine.x + theirs.x) / 2, (mine.y + theirs.y) / 2, (mine.z + theirs.z) / 2]);
      if (grip.visible !== shown) grip.visible = shown;
    });
  }

  protected override tellAt(where: string, text: string): boolean {
    if (where === "leader") return (this.leaderPart.setError(text), true);
    if (where === "only" && this.lead === "path") return (this.examplesPart.fail(text), true);
    return super.tellAt(where, text);
  }
}

