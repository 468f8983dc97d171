/** A film beside the stage, of this computer and never sent anywhere: stepped through by frames, its moments paired with
    poses, and played in step with the motion. */

import { button, el, icon, numberField } from "../dom";
import type { Context, Player } from "../types";
import { rateOf } from "./filmrate";

/** Seconds that a playing film may be ahead or behind before it is put right. */
const LOOSE_S = 0.1;
/** Frames that are looked at to find how many there are in a second, and moments that are tried. */
const [RATE_FRAMES, RATE_LOOKS] = [5, 24];
/** Seconds of the first step, shorter than a frame, and how steps grow: by less than two, so that none is left out. */
const [RATE_STEP_S, RATE_GROWTH] = [1 / 130, 1.6];
/** Seconds within which frames are counted. */
const RATE_FAR_S = 10;
/** Milliseconds that a frame may take to be shown. */
const RATE_WAIT_MS = 3000;
const USUAL_RATE_HZ = 25;

export interface FilmHooks {
  /** This moment of the film, in seconds of the motion, is when the pose on the stage shall be; why not, else null. */
  pair(seconds: number): string | null;
  /** The film begins so many seconds later than it did. */
  shifted(by: number): void;
}

export class Film {
  /** What belongs into the panel. */
  readonly element: HTMLElement;
  private readonly pane: HTMLElement;
  private readonly video = el("video", { attrs: { playsinline: true, "aria-label": "Film" } });
  private readonly scrub = el("input", { attrs: { type: "range", min: 0, max: 1, step: "any", "aria-label": "Moment of the film" } });
  private readonly ticks = el("div", { class: "ticks" });
  private readonly where = el("span", { class: "figures quiet-text", attrs: { "aria-live": "polite" } });
  private readonly problem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  private readonly name = el("p", { class: "quiet-text" });
  private readonly rateField;
  private readonly offsetField;
  private readonly open: HTMLElement;
  private address: string | null = null;
  private rate = USUAL_RATE_HZ;
  /** Second of the film at which the motion begins. */
  private offset = 0;
  /** Frame of the player that the film was last brought to: it stays at a moment chosen on it until that changes. */
  private seen = -1;
  private visible = false;
  private marks: readonly number[] = [];

  constructor(
    private readonly context: Context,
    private readonly hooks: FilmHooks,
  ) {
    this.video.muted = true; // a film that plays by itself must be
    const file = el("input", { hidden: true, attrs: { type: "file", accept: "video/*", "aria-label": "Film file" } });
    file.addEventListener("change", () => {
      const [chosen] = file.files ?? [];
      if (chosen) void this.load(chosen);
      file.value = "";
    });
    const choose = button("Choose a film", () => file.click(), { icon: "plus", title: "A video of this computer; it stays here" });
    this.rateField = numberField("Frames a second", {
      min: 1, max: 1000, step: 0.001, unit: "Hz", value: this.rate,
      hint: "Measured when the film is opened; say it where that is wrong",
      onChange: (rate) => this.setRate(rate),
    });
    this.offsetField = numberField("The motion begins at", {
      min: 0, max: 36_000, step: 0.01, unit: "s", value: 0,
      hint: "Second of the film; poses that were paired with it go along",
      onChange: (seconds) => this.setOffset(seconds),
    });
    this.open = el("div", { hidden: true }, this.name, el("div", { class: "pair" }, this.rateField.element, this.offsetField.element));
    this.element = el(
      "div",
      { class: "film-panel" },
      el("p", { class: "quiet-text" }, "Moments of a film as key times: step to one, and pair it with the pose on the stage."),
      el("div", { class: "row" }, choose, file, button("Close the film", () => this.close(), { kind: "quiet" })),
      this.open,
      this.problem,
    );
    this.pane = this.makePane();
    context.stage.element.before(this.pane);
    context.stage.player.subscribe((player) => this.follow(player));
  }

  /** Beside the stage, or away; a film that is away stays open. */
  show(visible: boolean): void {
    this.visible = visible;
    this.arrange();
    this.seen = -1;
    if (visible) this.follow(this.context.stage.player);
    else this.video.pause();
  }

  /** Key times of the motion, seconds: drawn along the film. */
  setMarks(seconds: readonly number[]): void {
    this.marks = seconds;
    const { duration } = this;
    this.ticks.replaceChildren(
      ...seconds.flatMap((at) => {
        const share = (at + this.offset) / duration;
        if (!(share >= 0 && share <= 1)) return [];
        const tick = el("button", { class: "tick", attrs: { type: "button", "aria-label": `Paired moment at ${(at + this.offset).toFixed(2)} s` } });
        tick.style.left = `${100 * share}%`;
        tick.addEventListener("click", () => this.seek(at + this.offset));
        return [tick];
      }),
    );
  }

  /** The motion begins at the moment that is shown. */
  beginHere(): void {
    this.setOffset(this.video.currentTime);
    this.offsetField.set(this.offset);
  }

  // -------------------------------------------------------------- opening

  private get duration(): number {
    return Number.isFinite(this.video.duration) && this.video.duration > 0 ? this.video.duration : 1;
  }

  async load(file: File): Promise<void> {
    this.close();
    this.address = URL.createObjectURL(file);
    const { video } = this;
    try {
      video.src = this.address;
      await heard(video, "loadeddata");
      // What was recorded in a browser does not say how long it is until its end was seen.
      if (!Number.isFinite(video.duration)) {
        video.currentTime = 1e7;
        await heard(video, "seeked");
      }
      this.scrub.max = String(this.duration);
      this.name.textContent = `${file.name}, ${this.duration.toFixed(2)} s`;
      this.say(null);
      this.open.hidden = false;
      this.arrange();
      await this.measure();
      this.setMarks(this.marks);
      this.seen = -1;
      this.follow(this.context.stage.player);
    } catch {
      this.close();
      this.say(`${file.name} cannot be played by this browser; WebM (VP8, VP9) and, in most, MP4 (H.264) can.`);
    }
  }

  close(): void {
    this.video.pause();
    this.video.removeAttribute("src");
    this.video.load();
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = null;
    this.open.hidden = true;
    this.say(null);
    this.arrange();
  }

  /** From one frame to the next by ever longer steps, which cannot miss one; then far away, for the last digits. */
  private async measure(): Promise<void> {
    const times: number[] = [];
    if ("requestVideoFrameCallback" in this.video) {
      let step = RATE_STEP_S;
      let latest = await this.frameTime(Math.min(0.2, this.duration / 4));
      for (let k = 0; latest !== null && times.length < RATE_FRAMES && k < RATE_LOOKS; k++) {
        if (times.at(-1) !== latest) times.push(latest);
        const next: number | null = await this.frameTime(latest + step);
        if (next === null || next > latest + 1e-4) {
          step = next === null ? step : 1.2 * (next - latest); // the frame after that, and not the one after it
          latest = next;
        } else step *= RATE_GROWTH;
      }
      const [first = 0, span = 0] = [times[0], (times.at(-1) ?? 0) - (times[0] ?? 0)];
      // Each time so far that the frames between can still be counted.
      for (let far = 3 * span; span > 0 && far < RATE_FAR_S; far *= 3) {
        const time = await this.frameTime(first + far);
        if (time === null) break;
        times.push(time);
      }
    }
    this.setRate(rateOf(times) ?? USUAL_RATE_HZ);
    this.rateField.set(this.rate);
    this.pane.dataset["ready"] = "true";
  }

  /** When the frame that is shown at a moment begins; null where the browser does not tell. */
  private async frameTime(seconds: number): Promise<number | null> {
    const { video } = this;
    if (seconds >= this.duration) return null;
    const told = new Promise<number>((resolve) => video.requestVideoFrameCallback((_, { mediaTime }) => resolve(mediaTime)));
    const sought = heard(video, "seeked");
    video.currentTime = seconds;
    await sought;
    return Promise.race([told, new Promise<null>((resolve) => window.setTimeout(() => resolve(null), RATE_WAIT_MS))]);
  }

  private setRate(rate: number): void {
    this.rate = rate;
    this.tell();
  }

  private setOffset(seconds: number): void {
    const by = seconds - this.offset;
    this.offset = seconds;
    this.say(null);
    if (by !== 0) this.hooks.shifted(by);
    this.setMarks(this.marks);
    this.tell();
  }

  // -------------------------------------------------------------- time

  /** Frame of the film that is shown. */
  private get frame(): number {
    return Math.floor(this.video.currentTime * this.rate + 1e-3);
  }

  private seek(seconds: number): void {
    this.video.pause();
    this.video.currentTime = Math.min(Math.max(seconds, 0), this.duration);
    this.tell();
  }

  /** By whole frames; to the middle of one, so that rounding does not show its neighbour. */
  private step(frames: number): void {
    this.context.stage.player.pause();
    const last = Math.max(0, Math.ceil(this.duration * this.rate) - 1);
    this.seek((Math.min(Math.max(this.frame + frames, 0), last) + 0.5) / this.rate);
  }

  /** In step with the motion: at its second while it stands, and along with it while it plays. */
  private follow(player: Player): void {
    const { video } = this;
    if (!this.visible || !this.address || !this.pane.dataset["ready"]) return;
    const wanted = player.frame / player.fps + this.offset;
    const inside = wanted >= 0 && wanted <= this.duration;
    this.pane.dataset["over"] = String(!inside);
    if (player.playing && inside) {
      video.playbackRate = Math.min(Math.max(player.speed, 0.1), 8);
      if (Math.abs(video.currentTime - wanted) > LOOSE_S * Math.max(1, player.speed)) video.currentTime = wanted;
      if (video.paused) video.play().catch(() => undefined);
    } else {
      video.pause();
      // Whoever steps through the film leaves the motion where it is, and the film stays until that moves.
      if (player.frame !== this.seen) video.currentTime = Math.min(Math.max(wanted, 0), this.duration);
    }
    this.seen = player.frame;
    this.tell();
  }

  private pair(): void {
    this.context.stage.player.pause();
    this.say(this.hooks.pair(this.video.currentTime - this.offset));
  }

  // -------------------------------------------------------------- showing

  private makePane(): HTMLElement {
    const quiet = { iconOnly: true, kind: "quiet" } as const;
    this.scrub.addEventListener("input", () => {
      this.context.stage.player.pause();
      this.seek(Number(this.scrub.value));
    });
    for (const event of ["seeked", "timeupdate"] as const) this.video.addEventListener(event, () => this.tell());
    const pane = el(
      "div",
      { class: "film", hidden: true, attrs: { role: "group", tabindex: 0, "aria-label": "Film" } },
      this.video,
      el("div", { class: "film-scrub" }, this.scrub, this.ticks),
      el(
        "div",
        { class: "row" },
        button("One frame back in the film", () => this.step(-1), { ...quiet, icon: "back", title: "One frame back (←)" }),
        button("One frame on in the film", () => this.step(1), { ...quiet, icon: "forward", title: "One frame on (→)" }),
        this.where,
        button("Pair with the pose", () => this.pair(), { icon: "link", title: "The pose on the stage shall be at this moment (M)" }),
      ),
    );
    pane.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (step) this.step(step * (event.shiftKey ? 10 : 1));
      else if (event.key === "m" || event.key === "M") this.pair();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return pane;
  }

  private arrange(): void {
    const shown = this.visible && this.address !== null;
    this.pane.hidden = !shown;
    if (shown) this.pane.parentElement!.dataset["film"] = "shown";
    else delete this.pane.parentElement?.dataset["film"];
    if (this.address === null) delete this.pane.dataset["ready"];
  }

  private tell(): void {
    const { currentTime } = this.video;
    this.scrub.value = String(currentTime);
    this.scrub.style.setProperty("--share", String(currentTime / this.duration));
    this.where.textContent = `frame ${this.frame} · ${currentTime.toFixed(2)} s`;
    this.pane.dataset["frame"] = String(this.frame);
  }

  private say(text: string | null): void {
    this.problem.hidden = text === null;
    this.problem.replaceChildren(...(text === null ? [] : [icon("warning"), text]));
  }
}

/** When a video tells of this, or of an error. */
function heard(video: HTMLVideoElement, event: "loadeddata" | "seeked"): Promise<void> {
  return new Promise((resolve, reject) => {
    video.addEventListener(event, () => resolve(), { once: true });
    video.addEventListener("error", () => reject(new Error("cannot be played")), { once: true });
  });
}
