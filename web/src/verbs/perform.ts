/** Perform: motion controlled by example. A way drawn in its own time, or somebody who leads. */

import { RED, TEAL } from "../colours";
import { el, section, select, toggle } from "../dom";
import type { Examples, PerformAsk, Result } from "../messages";
import type { Context, GhostOverlay, Overlay, Panel, SphereOverlay, State } from "../types";
import { asker, canonical } from "./asking";
import { performForm, type PerformForm } from "./performForm";
import { pairsEditor } from "./performPairs";
import { piecesView } from "./performPieces";
import { Way, type Sample } from "./performWay";
import { watch } from "./watch";
import "./perform.css";

/** Most hands that can hold each other. */
const HANDS = 2;

export const perform: Panel = {
  verb: "perform",
  title: "Perform",
  mount(left, context) {
    const panel = new PerformPanel(context);
    left.append(panel.element);
    return panel;
  },
};

class PerformPanel {
  readonly element: HTMLElement;
  private readonly way: Way;
  private readonly form: PerformForm;
  private readonly pieces;
  private readonly pairs;
  private readonly asker;
  private visible = false;
  /** The request that was last asked or shown. */
  private asked = "";
  /** The performance that frames are shown of while it goes on. */
  private live = 0;
  private examples: Examples | null = null;
  private examplesOf = "";
  private marks: Overlay[] = [];
  private readonly grips: SphereOverlay[];
  private timer = 0;
  /** The clips that examples are chosen from, and whether answers to earlier ones are no answers any more. */
  private library = "";
  private outdated = false;
  private wantsPartner = false;
  private partner: { ghost: GhostOverlay; fps: number } | null = null;

  constructor(private readonly context: Context) {
    const { store, stage, api } = context;
    this.asker = asker(context, "perform", {
      busy: (searching) => {
        this.element.dataset["busy"] = String(searching);
        if (searching) this.form.fail(null);
      },
      refused: ({ error, where }) => this.form.fail(error, where),
      answered: () => this.form.fail(null),
    });
    this.form = performForm(context, {
      edit: (label, change, options) => this.edit(label, change, options),
      feel: (clip) => void this.feel(clip),
    });
    this.pairs = pairsEditor(context, { change: (label, pairs) => this.edit(label, (ask) => (ask.pairs = pairs)) });
    this.pieces = piecesView(context);
    this.way = new Way(stage, {
      moved: (samples, first) => (this.live = api.moved(samples, first ? { ...this.ask, samples: [] } : null)),
      done: (samples) => this.done(samples),
      cancelled: () => this.giveUp(),
      speed: (now) => this.form.speed(now, this.examples),
    });
    api.on("partial", (message, frames) => {
      if (message.number !== this.live || !frames || !this.way.performing) return;
      // More is coming: the figure waits for it at the end, instead of beginning anew.
      const motion = { ...message.motion, frames: message.motion.frames + Math.round(message.motion.fps) };
      stage.stream(this.live, motion, message.start, frames, 2);
      if (!stage.player.playing) stage.player.play();
    });
    api.on("refused", (message) => {
      if (message.number === this.live) this.form.fail(message.failure.error);
    });
    this.grips = Array.from({ length: HANDS }, () => stage.addSphere([0, 0, 0], { colour: TEAL, radius: 0.05 }));
    for (const grip of this.grips) grip.visible = false;
    stage.player.subscribe(() => this.follow());
    this.element = this.build();
    watch(store, [(state) => state.document.perform, (state) => state.document.clips], (state) => this.show(state));
    watch(store, [(state) => state.view.shown, (state) => state.results.map((result) => result.id)], (state) =>
      this.showResult(state),
    );
  }

  private get ask(): PerformAsk {
    return this.context.store.state.document.perform;
  }

  hint(): string {
    if (this.context.store.state.document.clips.length === 0)
      return "Drop recordings of somebody who walks into the window.";
    if (this.ask.lead === "body") return this.ask.leader ? "The tinted figure leads." : "Choose the clip that leads.";
    return this.ask.samples.length < 2
      ? "Press on the floor and move as fast as somebody walks: a figure follows."
      : "Press and move to perform it anew. The right button turns the camera.";
  }

  onShow(): void {
    this.visible = true;
    this.show(this.context.store.state);
    this.showResult(this.context.store.state);
    if (!this.asker.isShown()) this.asked = ""; // back from another panel
    this.askIfNew();
  }

  onHide(): void {
    this.visible = false;
    this.way.show(false);
    this.form.feeling(false);
    this.clearMarks();
    this.context.timeline.setMarkers([]);
  }

  // -------------------------------------------------------------- changes

  private edit(label: string, change: (ask: PerformAsk) => void, options: { settle?: number } = {}): void {
    void this.context.store.change(label, (document) => change(document.perform), options);
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.askNow(), options.settle ?? 0);
  }

  /** The hand was lifted: the whole is asked for, and replaces what was shown meanwhile. */
  private done(samples: Sample[]): void {
    this.live = 0;
    this.edit(`Perform ${samples.at(-1)![0].toFixed(1)} s`, (ask) => (ask.samples = samples));
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

  private ready(): boolean {
    return this.ask.lead === "path" ? this.ask.samples.length >= 2 : this.ask.leader !== null;
  }

  private askNow(): void {
    window.clearTimeout(this.timer);
    this.asked = "";
    if (this.ready()) this.askIfNew();
    else this.form.fail(null);
  }

  /** Show the answer that is known, or ask for it. */
  private askIfNew(): void {
    const key = canonical(this.ask);
    if (!this.ready() || key === this.asked) return;
    this.asked = key;
    const known = !this.outdated && this.asker.recall(this.ask);
    if (!known) this.asker.ask(this.ask);
    this.outdated = false;
  }

  // -------------------------------------------------------------- examples

  /** Ask what performances are made of, if that may be another thing now. */
  private async look(state: State): Promise<void> {
    const { lead, examples, pairs, cut } = state.document.perform;
    const key = canonical([lead, lead === "path" ? examples : [pairs, cut], state.document.clips]);
    if (key === this.examplesOf || state.document.clips.length === 0) return;
    this.examplesOf = key;
    let [found, why]: [Examples | null, string | null] = [null, null];
    try {
      const of: Partial<PerformAsk> = lead === "path" ? { lead, examples } : { lead, pairs, cut };
      found = await this.context.api.send<Examples>("POST", "/api/perform/examples", of);
    } catch (error) {
      why = (error as Error).message;
    }
    if (key !== this.examplesOf) return;
    this.examples = found;
    this.form.examples(this.ask, found, why);
    this.pairs.set(this.ask, found);
  }

  /** A dot goes as an example went; again takes it away. */
  private async feel(clip: string): Promise<void> {
    if (this.way.feeling) {
      this.way.still();
      return this.form.feeling(false);
    }
    const { api, store } = this.context;
    try {
      const motion = await api.motion(`clip:${clip}`);
      const frames = await api.frames(`clip:${clip}`);
      const width = 3 + 4 * motion.joints.length;
      const track = Array.from({ length: motion.frames }, (_, k): [number, number] => [
        frames[k * width]!,
        frames[k * width + 2]!,
      ]);
      if (!this.visible) return;
      this.way.feel(track, motion.fps, motion.name);
      this.context.stage.camera.frame(track);
      this.form.feeling(true);
    } catch (error) {
      store.say((error as Error).message, "error");
    }
  }

  // -------------------------------------------------------------- what is there

  private build(): HTMLElement {
    const lead = select<PerformAsk["lead"]>(
      "What leads",
      [
        { value: "path", label: "my hand" },
        { value: "body", label: "a dancer" },
      ],
      this.ask.lead,
      (value) => this.edit(value === "path" ? "Perform a path" : "Lead and follow", (ask) => (ask.lead = value)),
    );
    this.form.setters.push((ask) => lead.set(ask.lead));
    const bodies = [
      section("Leader", null, this.form.leader, this.partnerButton()),
      section("Pairs", null, this.form.paired, this.pairs.element),
    ];
    for (const part of bodies) part.classList.add("for-body");
    return el(
      "div",
      {},
      section("Perform", null, lead.element),
      this.form.path,
      ...bodies,
      this.form.chosen,
      this.form.reading,
      section("Made of", "open", this.pieces.element),
    );
  }

  /** Beside the answer, as a ghost, whoever was really recorded with the leader. */
  private partnerButton(): HTMLElement {
    const show = toggle("Show the true partner", false, (on) => {
      show.set(on);
      this.wantsPartner = on;
      this.showResult(this.context.store.state);
    });
    this.form.setters.push((ask) => (show.hidden = !this.examples?.examples.some((one) => one.leader === ask.leader)));
    return show;
  }

  private addPartner(result: Result): void {
    const { stage, store } = this.context;
    const partner = this.examples?.examples.find((one) => one.leader === result.request["leader"]);
    const motion = partner && store.state.clips.find(({ id }) => id === `clip:${partner.clip}`);
    if (!this.wantsPartner || !motion) return;
    this.partner = { ghost: stage.addGhost(motion.id, 0, { colour: "#98a1af" }), fps: motion.fps };
    this.marks.push(this.partner.ghost);
  }

  private show(state: State): void {
    const ask = state.document.perform;
    const library = canonical(state.document.clips);
    if (this.library && library !== this.library) [this.asked, this.outdated] = ["", true];
    this.library = library;
    this.element.dataset["lead"] = ask.lead;
    this.form.set(ask, this.examples);
    this.pairs.set(ask, this.examples);
    this.way.set(ask.samples);
    this.context.refreshHint();
    if (!this.visible) return;
    this.way.show(ask.lead === "path");
    void this.look(state);
    // Undone, redone or opened from a link; a change made in another tab is answered there.
    if (document.hasFocus()) this.askIfNew();
  }

  private resultOnStage(state: State): Result | null {
    const first = state.view.shown[0];
    return (
      state.results.find(({ verb, motions }) => verb === "perform" && motions.some(({ id }) => id === first)) ?? null
    );
  }

  /** What the motion on the stage is made of, and red where it could not keep up. */
  private showResult(state: State): void {
    this.clearMarks();
    if (!this.visible) return;
    const result = this.resultOnStage(state);
    this.pieces.set(result);
    this.form.result(result);
    this.context.timeline.setMarkers(result ? this.pieces.markers(result) : []);
    for (const { text, place } of result?.problems ?? []) {
      if (!place) continue;
      const { stage } = this.context;
      this.marks.push(
        stage.addSphere(place, { colour: RED, radius: 0.09 }),
        stage.addText([place[0], 0.3, place[2]], text.split(" is ")[0]!, RED),
      );
    }
    if (result) this.addPartner(result);
    this.follow();
  }

  private clearMarks(): void {
    this.partner = null;
    for (const mark of this.marks.splice(0)) mark.remove();
    for (const grip of this.grips) if (grip.visible) grip.visible = false;
  }

  /** What changes with time: where hands are held, and where the true partner was. */
  private follow(): void {
    if (!this.visible) return;
    const { stage, store } = this.context;
    const result = this.resultOnStage(store.state);
    const [follower, leader] = result?.motions ?? [];
    const { frame } = stage.player;
    this.partner?.ghost.update(Math.round((frame / stage.player.fps) * this.partner.fps));
    const held = follower && leader ? result!.holds.filter(({ start, stop }) => frame >= start && frame < stop) : [];
    this.grips.forEach((grip, k) => {
      const hold = held[k];
      const mine = hold ? stage.jointAt(follower!.id, hold.joint, frame) : null;
      const theirs = hold ? stage.jointAt(leader!.id, hold.other, (frame / follower!.fps) * leader!.fps) : null;
      const shown = mine !== null && theirs !== null;
      if (shown) grip.update([(mine.x + theirs.x) / 2, (mine.y + theirs.y) / 2, (mine.z + theirs.z) / 2]);
      if (grip.visible !== shown) grip.visible = shown;
    });
  }
}
