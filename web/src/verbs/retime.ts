/** Retime: poses pinned in time, the warp between them, and the motion as it was beside it. */

import { AMBER } from "../colours";
import { button, type Control, el, optionalNumber, section, select, textField } from "../dom";
import type { Motion, Result, RetimeRequest, VerbFacts } from "../messages";
import { Dragging } from "../panels/dragging";
import { Film } from "../panels/film";
import { speedsOf } from "../panels/speeds";
import { frameAt, type Key, secondsAt, type Warp, warpChart } from "../panels/warpchart";
import { motionChoices, subjectChooser } from "../panels/subject";
import { VerbPanel } from "../panels/verb";
import { refill, watch } from "../panels/watch";
import type { Context, GhostOverlay, Panel, State } from "../types";
import "./retime.css";

/** Dragged, or chosen in the panel. */
const CHOSEN = ["keys", "like"];
/** How far beside the retimed motion the recorded one is, metres. */
const BESIDE_M = 1.0;
const RECORDED = "#98a1af";

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
  private readonly likeSource: Control<string>;
  private readonly dragging: Dragging<RetimeRequest>;
  private ghosts: Ghosts = "beside";
  private ghost: { of: string; overlay: GhostOverlay; fps: number } | null = null;
  private speedsOf = "";
  private readonly film: Film;
  /** Frames whose key times are moments of the film. */
  private readonly filmed = new Set<number>();

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: CHOSEN });
    const { store, stage } = context;
    this.chart = warpChart({
      move: (frame, seconds, done) => this.move(frame, seconds, done),
      add: (seconds) => this.pin(seconds),
      remove: (frame) => this.unpin(frame),
    });
    this.film = new Film(context, { pair: (seconds) => this.pair(seconds), shifted: (by) => this.shift(by) });
    this.likeMore = select<string>("Be like", [], "", (id) => id && this.like([...(this.request.like ?? []), id]), "Its timing guides");
    const from = (name: string) => {
      if (name) this.like([...(this.request.like ?? []), name]);
      this.likeSource.set("");
    };
    this.likeSource = textField("Choose from", "", from, "folder, pattern or .mog", "The nearest motions in it guide");
    this.element.append(
      section(
        "Motion",
        null,
        this.lead,
        subjectChooser(context, verb.name, ({ requests }) => {
          // Key times are those of the motion that was chosen before.
          const request = requests[verb.name] as RetimeRequest | undefined;
          delete request?.keys;
          delete request?.duration_s;
        }),
        this.problems,
        this.facts,
      ),
      el("div", { class: "times" }, section("Time", null, this.chart.element, this.pinButton(), this.keyList)),
      section("Film", "closed", this.film.element),
      section("Like", null, this.likeList, this.likeMore.element, this.likeSource.element),
      section("Before and after", null, this.ghostChoice()),
      section("How", "open", this.form.element),
    );
    stage.player.subscribe((player) => this.visible && this.tick(player.frame / player.fps));
    this.dragging = new Dragging(context, verb.name, this.asker);
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
    this.film.show(true);
    this.draw();
  }

  override onHide(): void {
    super.onHide();
    this.context.timeline.setDoubleClick(null);
    this.context.timeline.setMarkers([]);
    this.film.show(false);
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
    return this.request.finish?.rate_hz ?? motion.fps;
  }

  /** In order, with the first frame and the last. */
  private keys(motion: Motion, request: RetimeRequest): Key[] {
    const [last, rate] = [motion.frames - 1, this.rate(motion)];
    const end = (request.duration_s ?? motion.frames / motion.fps) - 1 / rate;
    const said = Object.entries({ 0: 0, [last]: end, ...request.keys });
    return said
      .map(([name, seconds]) => ({ frame: Number(name), seconds, end: name === "0" || name === String(last) }))
      .sort((a, b) => a.frame - b.frame);
  }

  private move(frame: number, seconds: number, done: boolean): void {
    const motion = this.recorded();
    if (!motion || frame === 0) return;
    const keys = this.keys(motion, this.dragging.request ?? this.request);
    const k = keys.findIndex((key) => key.frame === frame);
    if (k < 0) return;
    const gap = 1 / this.rate(motion);
    const [before, after] = [keys[k - 1]!.seconds + gap, (keys[k + 1]?.seconds ?? Infinity) - gap];
    const at = round(Math.min(Math.max(seconds, before), Math.max(before, after)));
    const change = (request: RetimeRequest) => {
      if (frame < motion.frames - 1) request.keys = { ...request.keys, [frame]: at };
      else {
        request.duration_s = round(at + gap);
        if (request.keys) delete request.keys[String(frame)];
      }
    };
    if (done) {
      this.dragging.end();
      this.edit(keys[k]!.end ? `Let it last ${(at + gap).toFixed(2)} s` : `Show frame ${frame} at ${at.toFixed(2)} s`, change);
    } else {
      const dragged = structuredClone(this.request);
      change(dragged);
      this.dragging.ask(dragged);
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

  // -------------------------------------------------------------- a film's moments

  /** The pose that is seen shall be at this second; why that cannot be, else null. */
  private pair(seconds: number): string | null {
    const [motion, warp] = [this.recorded(), this.warp()];
    if (!motion || !warp) return "Choose a motion to retime first.";
    const { player } = this.context.stage;
    const [frame, last] = [Math.round(frameAt(warp, player.frame / player.fps)), motion.frames - 1];
    if (frame <= 0) return (this.film.beginHere(), null); // the first pose is where the motion begins
    const at = round(seconds);
    const others = this.keys(motion, this.request).filter((key) => key.frame !== frame && (!key.end || key.frame === 0));
    const wrong = others.find((key) => (key.frame < frame ? key.seconds >= at : key.seconds <= at));
    if (wrong) {
      const said = `Frame ${frame} cannot be at ${at.toFixed(2)} s: frame ${wrong.frame} is at ${wrong.seconds.toFixed(2)} s.`;
      return wrong.frame === 0 ? `${said} Pair the first pose with the moment at which the motion begins.` : said;
    }
    this.filmed.add(frame);
    this.edit(`Pair frame ${frame} with ${at.toFixed(2)} s`, (request) => {
      if (frame < last) request.keys = { ...request.keys, [frame]: at };
      const end = frame < last ? null : at;
      // What comes after the last moment goes on as it was recorded, unless it is known when it ends.
      const [latest] = Object.entries(request.keys ?? {}).map(([name, time]) => [Number(name), time] as const).sort((a, b) => b[0] - a[0]);
      const least = latest ? latest[1] + 1 / this.rate(motion) : 0;
      if (end !== null) request.duration_s = round(end + 1 / this.rate(motion));
      else if (latest && (request.duration_s ?? motion.frames / motion.fps) <= least) {
        request.duration_s = round(latest[1] + (motion.frames - latest[0]) / motion.fps);
      }
    });
    return null;
  }

  /** The film begins later: its moments come earlier in the motion. */
  private shift(by: number): void {
    const keys = this.request.keys ?? {};
    const known = [...this.filmed].filter((frame) => String(frame) in keys);
    if (known.length === 0) return;
    this.edit("Shift the film", (request) => {
      for (const frame of known) request.keys![String(frame)] = round(Math.max(request.keys![String(frame)]! - by, 0));
    });
  }

  private unpin(frame: number): void {
    this.edit(`Free frame ${frame}`, (request) => {
      const { [String(frame)]: _, ...rest } = request.keys ?? {};
      if (Object.keys(rest).length > 0) request.keys = rest;
      else delete request.keys;
    });
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
    const keys = this.keys(motion, this.dragging.request ?? this.request);
    this.chart.set({ warp: this.warp(), keys, frames: motion.frames, fps: motion.fps });
    this.film.setMarks(keys.filter((key) => !key.end).map((key) => key.seconds));
    if (!this.dragging.request) this.listKeys(keys);
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
    const both = [result.motions[0]!, this.recorded()].map(async (motion) => (motion ? speedsOf(motion, await stage.joints(motion.id)) : []));
    const [after, before] = await Promise.all(both).catch(() => [[], []]); // one of them is gone, and with it its speeds
    if (this.speedsOf === result.id) this.chart.setSpeeds(after ?? [], before ?? []);
  }
}

/** To the left of where a motion goes. */
function aside(frames: Float32Array, motion: Motion, by: number): { x: number; z: number } {
  const last = (motion.frames - 1) * (3 + 4 * motion.joints.length);
  const [x, z] = [frames[last]! - frames[0]!, frames[last + 2]! - frames[2]!];
  const way = Math.hypot(x, z);
  return way > 0.3 ? { x: (by * z) / way, z: (-by * x) / way } : { x: by, z: 0 };
}

const round = (value: number): number => Math.round(1000 * value) / 1000;
