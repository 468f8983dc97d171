/** Retime: poses pinned in time, the warp between them, and the motion as it was beside it. */

import { AMBER } from "../colours";
import { button, el, optionalNumber, section, select } from "../dom";
import type { Motion, Result, RetimeRequest, VerbFacts } from "../messages";
import { frameAt, type Key, secondsAt, type Speed, type Warp, warpChart } from "../panels/warpchart";
import { motionChoices, subjectChooser, VerbPanel } from "../panels/verb";
import { refill, watch } from "../panels/watch";
import type { Context, GhostOverlay, Panel, Stage, State } from "../types";
import "./retime.css";

/** Dragged, or chosen in the panel. */
const CHOSEN = ["keys", "like"];
/** How far beside the retimed motion the recorded one is, metres. */
const BESIDE_M = 1.0;
const RECORDED = "#98a1af";
const SPEED_SAMPLES = 120;

type Ghosts = "beside" | "behind" | "none";

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new RetimePanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class RetimePanel extends VerbPanel<RetimeRequest> {
  private readonly chart;
  private readonly lead = el("p", { class: "lead" });
  private readonly keyList = el("ul", { class: "keys", attrs: { "aria-label": "Key times" } });
  private readonly likeList = el("ul", { class: "likes", attrs: { "aria-label": "Like" } });
  private readonly likeMore;
  /** What is asked while a key time is dragged; the document hears of it at the end. */
  private dragged: RetimeRequest | null = null;
  /** One request at a time while dragging: each would stop the one before it, and nothing would be seen. */
  private underWay = false;
  private waits = false;
  private ghosts: Ghosts = "beside";
  private ghost: { of: string; overlay: GhostOverlay; fps: number } | null = null;
  private speedsOf = "";

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: CHOSEN });
    const { api, store, stage } = context;
    this.chart = warpChart({
      move: (frame, seconds, done) => this.move(frame, seconds, done),
      add: (seconds) => this.pin(seconds),
      remove: (frame) => this.unpin(frame),
    });
    this.likeMore = select<string>("Be like", [], "", (id) => id && this.like([...(this.request.like ?? []), id]), "Its timing guides");
    this.element.append(
      section(
        "Motion",
        null,
        this.lead,
        subjectChooser(context, verb.name, ({ requests }) => {
          // Key times are those of the motion that was chosen before.
          const request = requests[verb.name] as RetimeRequest | undefined;
          delete request?.keys;
          delete request?.seconds;
        }),
        this.problems,
        this.facts,
      ),
      section("Time", null, this.chart.element, this.pinButton(), this.keyList),
      section("Like", null, this.likeList, this.likeMore.element),
      section("Before and after", null, this.ghostChoice()),
      section("How", "open", this.form.element),
    );
    stage.player.subscribe((player) => this.visible && this.tick(player.frame / player.fps));
    const landed = (message: { verb: string }) => message.verb === verb.name && void this.landed();
    api.on("answer", (message) => message.final && landed(message));
    api.on("refused", landed);
    watch(store, [(state) => state.document.names, (state) => state.results.map(({ id }) => id)], (state) => this.showLike(state));
    watch(store, [(state) => state.clips], () => this.visible && this.draw());
  }

  override hint(): string {
    if (!this.recorded()) return "Choose a clip or a result to retime.";
    return "Double-click the timeline to pin a pose; drag the pins in time.";
  }

  override onShow(): void {
    this.context.timeline.setDoubleClick((frame) => this.pin(frame / this.context.stage.player.fps));
    super.onShow();
    this.draw();
  }

  override onHide(): void {
    super.onHide();
    this.context.timeline.setDoubleClick(null);
    this.context.timeline.setMarkers([]);
    this.dropGhost();
  }

  protected override ready(): boolean {
    return this.context.store.state.document.subjects[this.verb.name] !== undefined;
  }

  // -------------------------------------------------------------- key times

  /** The motion as it was. */
  private recorded(state: State = this.context.store.state): Motion | null {
    const id = state.document.subjects[this.verb.name];
    const all = [...state.clips, ...state.results.flatMap((result) => result.motions)];
    return all.find((motion) => motion.id === id) ?? null;
  }

  private warp(): Warp | null {
    const result = this.resultOnStage();
    return result && result.subject === this.recorded()?.id ? (result.details["warp"] as unknown as Warp) : null;
  }

  private rate(motion: Motion): number {
    return this.request.rate_hz ?? motion.fps;
  }

  /** In order, with the first frame and the last. */
  private keys(motion: Motion, request: RetimeRequest): Key[] {
    const [last, rate] = [motion.frames - 1, this.rate(motion)];
    const end = (request.seconds ?? motion.frames / motion.fps) - 1 / rate;
    const said = Object.entries({ 0: 0, [last]: end, ...request.keys });
    return said
      .map(([name, seconds]) => ({ frame: Number(name), seconds, end: name === "0" || name === String(last) }))
      .sort((a, b) => a.frame - b.frame);
  }

  private move(frame: number, seconds: number, done: boolean): void {
    const motion = this.recorded();
    if (!motion || frame === 0) return;
    const keys = this.keys(motion, this.dragged ?? this.request);
    const k = keys.findIndex((key) => key.frame === frame);
    if (k < 0) return;
    const gap = 1 / this.rate(motion);
    const [before, after] = [keys[k - 1]!.seconds + gap, (keys[k + 1]?.seconds ?? Infinity) - gap];
    const at = round(Math.min(Math.max(seconds, before), Math.max(before, after)));
    const change = (request: RetimeRequest) => {
      if (frame < motion.frames - 1) request.keys = { ...request.keys, [frame]: at };
      else {
        request.seconds = round(at + gap);
        if (request.keys) delete request.keys[String(frame)];
      }
    };
    if (done) {
      this.dragged = null;
      this.waits = this.underWay = false;
      this.edit(keys[k]!.end ? `Let it last ${(at + gap).toFixed(2)} s` : `Show frame ${frame} at ${at.toFixed(2)} s`, change);
    } else {
      this.dragged = structuredClone(this.request);
      change(this.dragged);
      this.askDragged();
    }
    this.draw();
  }

  /** Pin the pose that is seen at a second. */
  private pin(seconds: number): void {
    const [motion, warp] = [this.recorded(), this.warp()];
    if (!motion || !warp) return;
    const frame = Math.round(frameAt(warp, seconds));
    if (frame <= 0 || frame >= motion.frames - 1) return;
    const at = round(secondsAt(warp, frame));
    this.edit(`Pin frame ${frame}`, (request) => (request.keys = { ...request.keys, [frame]: at }));
  }

  private unpin(frame: number): void {
    this.edit(`Free frame ${frame}`, (request) => {
      const { [String(frame)]: _, ...rest } = request.keys ?? {};
      if (Object.keys(rest).length > 0) request.keys = rest;
      else delete request.keys;
    });
  }

  private askDragged(): void {
    if (!this.dragged) return;
    this.waits = this.underWay;
    if (this.underWay) return;
    this.underWay = true;
    this.asker.ask(this.dragged, false, true);
  }

  /** An answer is there: once it is on the stage, what was dragged on meanwhile is asked. */
  private async landed(): Promise<void> {
    await this.context.stage.loaded.catch(() => undefined);
    this.underWay = false;
    if (this.waits) this.askDragged();
  }

  private pinButton(): HTMLElement {
    const { player } = this.context.stage;
    const pin = button("Pin this pose", () => this.pin(player.frame / player.fps), {
      icon: "plus",
      title: "The frame that is shown, at the time at which it is shown",
    });
    const free = button("Free all", () => this.edit("Free all frames", (request) => delete request.keys), { kind: "quiet" });
    return el("div", { class: "row" }, pin, free);
  }

  // -------------------------------------------------------------- whose timing

  private like(names: readonly string[]): void {
    this.edit("Choose motions to be like", (request) => {
      if (names.length > 0) request.like = [...new Set(names)];
      else delete request.like;
    });
  }

  private showLike(state: State): void {
    const names = this.request.like ?? [];
    const all = motionChoices(state, "");
    const called = (id: string) => all.find(({ value }) => value === id)?.label ?? id;
    const drop = (id: string) => this.like(names.filter((name) => name !== id));
    refill(
      this.likeList,
      ...names.map((id) =>
        el(
          "li",
          { class: "row" },
          el("span", {}, called(id)),
          button(`Not like ${called(id)}`, () => drop(id), { icon: "close", iconOnly: true, kind: "quiet" }),
        ),
      ),
      names.length === 0 ? el("li", { class: "quiet-text" }, "Its own timing guides it.") : null,
    );
    this.likeMore.setChoices([
      { value: "", label: "Add a motion …" },
      ...motionChoices(state, this.verb.name).filter(({ value }) => !names.includes(value)),
    ]);
    this.likeMore.set("");
  }

  // -------------------------------------------------------------- what is there

  protected override show(state: State): void {
    this.lead.textContent = this.hint();
    this.showLike(state);
    this.draw();
  }

  protected override showResult(state: State): void {
    super.showResult(state);
    if (this.visible) this.draw();
  }

  private draw(): void {
    const motion = this.recorded();
    this.element.dataset["chosen"] = String(motion !== null);
    if (!motion) {
      this.dropGhost();
      if (this.visible) this.context.timeline.setMarkers([]);
      return;
    }
    const keys = this.keys(motion, this.dragged ?? this.request);
    this.chart.set({ warp: this.warp(), keys, frames: motion.frames, fps: motion.fps });
    if (!this.dragged) this.listKeys(keys);
    if (!this.visible) return;
    this.markKeys(keys);
    this.placeGhost(motion);
    const result = this.resultOnStage();
    if (result && result.id !== this.speedsOf) void this.measure(result);
  }

  private listKeys(keys: readonly Key[]): void {
    const inner = keys.filter((key) => !key.end);
    refill(
      this.keyList,
      ...inner.map(({ frame, seconds }) => {
        const typed = optionalNumber(`Frame ${frame}`, {
          min: 0, max: 3600, step: 0.01, unit: "s", value: seconds, empty: "free",
          onChange: (at) => (at === null ? this.unpin(frame) : this.move(frame, at, true)),
        });
        const free = button(`Free frame ${frame}`, () => this.unpin(frame), { icon: "close", iconOnly: true, kind: "quiet" });
        return el("li", { class: "row" }, typed.element, free);
      }),
    );
  }

  private markKeys(keys: readonly Key[]): void {
    const { stage, timeline } = this.context;
    const { fps } = stage.player;
    if (!this.resultOnStage()) return timeline.setMarkers([]);
    timeline.setMarkers(
      keys
        .filter((key) => !key.end)
        .map(({ frame, seconds }) => ({
          frame: seconds * fps,
          label: `Key pose ${frame}`,
          colour: AMBER,
          move: (at: number, done: boolean) => this.move(frame, at / fps, done),
          remove: () => this.unpin(frame),
        })),
    );
  }

  // -------------------------------------------------------------- before and after

  private ghostChoice(): HTMLElement {
    const choices = [
      { value: "beside", label: "beside it" },
      { value: "behind", label: "in its place" },
      { value: "none", label: "not shown" },
    ] as const;
    return select<Ghosts>("As recorded", choices, this.ghosts, (value) => {
      this.ghosts = value;
      this.draw();
    }).element;
  }

  private placeGhost(motion: Motion): void {
    const of = `${motion.id} ${motion.frames} ${this.ghosts}`;
    if (this.ghost?.of === of) return;
    this.dropGhost();
    if (this.ghosts === "none") return;
    const { stage, api } = this.context;
    const overlay = stage.addGhost(motion.id, 0, { colour: RECORDED });
    const made = (this.ghost = { of, overlay, fps: motion.fps });
    const beside = this.ghosts === "beside" ? BESIDE_M : 0;
    void api.frames(motion.id).then(
      (frames) => {
        if (this.ghost === made) overlay.update(0, { yaw: 0, ...aside(frames, motion, beside) });
        this.tick(stage.player.frame / stage.player.fps);
      },
      () => undefined, // it is gone, and so is its ghost
    );
  }

  private dropGhost(): void {
    this.ghost?.overlay.remove();
    this.ghost = null;
  }

  private tick(seconds: number): void {
    this.chart.setTime(seconds);
    this.ghost?.overlay.update(seconds * this.ghost.fps);
  }

  // -------------------------------------------------------------- speeds

  private async measure(result: Result): Promise<void> {
    const { stage } = this.context;
    this.speedsOf = result.id;
    await stage.loaded.catch(() => undefined);
    const motion = result.motions[0]!;
    if (this.speedsOf === result.id) this.chart.setSpeeds(speedsOf(stage, motion));
  }
}

/** To the left of where a motion goes. */
function aside(frames: Float32Array, motion: Motion, by: number): { x: number; z: number } {
  const last = (motion.frames - 1) * (3 + 4 * motion.joints.length);
  const [x, z] = [frames[last]! - frames[0]!, frames[last + 2]! - frames[2]!];
  const way = Math.hypot(x, z);
  return way > 0.3 ? { x: (by * z) / way, z: (-by * x) / way } : { x: by, z: 0 };
}

/** How fast hands and feet of a motion on the stage move. */
function speedsOf(stage: Stage, motion: Motion): Speed[] {
  const step = Math.max(1, Math.ceil(motion.frames / SPEED_SAMPLES));
  const speeds: Speed[] = [];
  for (const [kind, pattern] of [["hand", /hand|wrist/i], ["foot", /foot|ankle/i]] as const) {
    for (const [side, begins] of [["left", /left|^l/i], ["right", /right|^r/i]] as const) {
      const joint = motion.joints.findIndex((name) => pattern.test(name) && begins.test(name));
      if (joint < 0) continue;
      const speed: Speed = { name: `${side} ${kind}`, kind, side, seconds: [], m_s: [] };
      for (let frame = 0; frame < motion.frames; frame += step) {
        const [low, high] = [Math.max(frame - 1, 0), Math.min(frame + 1, motion.frames - 1)];
        const [a, b] = [stage.jointAt(motion.id, joint, low), stage.jointAt(motion.id, joint, high)];
        if (!a || !b || high === low) continue;
        speed.seconds.push(frame / motion.fps);
        speed.m_s.push((Math.hypot(b.x - a.x, b.y - a.y, b.z - a.z) * motion.fps) / (high - low));
      }
      speeds.push(speed);
    }
  }
  return speeds;
}

const round = (value: number): number => Math.round(1000 * value) / 1000;
