/** Time, below the stage: transport, scrubber, strips, markers, trim handles. */

import { ownerOf, shownColour } from "../colours";
import { el } from "../dom";
import type { Lanes, Marker, Motion, Player, Stage, Store, Timeline, TrimRange } from "../types";
import { type Extent, having, moved, zoomed } from "./extent";
import { LaneRows } from "./lanes";
import { layoutOf, MOST_STRIPS, paintStrips, type StripColours } from "./strips";
import { transport } from "./transport";

const WANTED_TICK_PX = 80;
const TICKS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
const ZOOM = 1.5;
const SIDES: [RegExp, string][] = [
  [/left|^l/i, "left"],
  [/right|^r/i, "right"],
];

export class StageTimeline implements Timeline {
  readonly element: HTMLElement;
  private readonly track: HTMLElement;
  private readonly ruler = el("div", { class: "ruler", attrs: { "aria-hidden": "true" } });
  private readonly canvas = el("canvas", { class: "strips" });
  private readonly head = el("div", { class: "playhead" });
  private readonly marks = el("div", { class: "marks" });
  private readonly trim = el("div", { class: "trim", hidden: true });
  private readonly names = el("div", { class: "strip-names", attrs: { "aria-hidden": "true" } });
  private readonly said = el("div", { class: "strip-tip", hidden: true });
  private readonly lanes = new LaneRows({
    share: (frame) => this.share(frame),
    frameAt: (event) => this.frameAt(event),
  });
  private motion: Motion | null = null;
  /** It and those that it is compared with: the first of each result on the stage. */
  private motions: readonly Motion[] = [];
  private markers: readonly Marker[] = [];
  private cast: readonly Motion[] = [];
  /** Whether a marker is being dragged: it must stay where the pointer is, whatever is shown meanwhile. */
  private held = false;
  private doubleClick: ((frame: number) => void) | null = null;
  private range: TrimRange | null = null;
  /** What is zoomed in on; null for all of it. */
  private part: Extent | null = null;
  private wasPlaying = false;
  /** Of the track, pixels; asking the browser each frame would lay the page out anew. */
  private width = 1;

  constructor(
    private readonly stage: Stage,
    private readonly store: Store,
  ) {
    this.track = el(
      "div",
      {
        class: "track",
        attrs: { role: "slider", tabindex: 0, "aria-label": "Time", "aria-valuemin": 0, "aria-orientation": "horizontal" },
      },
      this.ruler,
      this.canvas,
      this.lanes.element,
      this.trim,
      this.marks,
      this.head,
    );
    this.element = el(
      "section",
      { class: "timeline", attrs: { "aria-label": "Timeline" } },
      transport(stage.player, store),
      el("div", { class: "tracks" }, this.names, this.track),
      this.said,
    );
    this.track.addEventListener("pointerdown", (event) => this.press(event));
    this.track.addEventListener("pointermove", (event) => this.tell(event));
    this.track.addEventListener("pointerleave", () => (this.said.hidden = true));
    this.track.addEventListener("dblclick", (event) => this.doubleClick?.(Math.round(this.frameAt(event))));
    this.track.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.player.subscribe((player) => this.follow(player));
    store.subscribe((state) => state.view.theme, () => this.paint());
    store.subscribe((state) => state.view.contacts, () => this.paint());
    store.subscribe((state) => state.document.clips, () => this.paint());
    new ResizeObserver(() => {
      this.width = this.track.clientWidth;
      this.paint();
      this.follow(stage.player);
    }).observe(this.track);
  }

  setMarkers(markers: readonly Marker[]): void {
    this.markers = markers;
    if (this.held) return;
    const at = [...this.marks.children].indexOf(document.activeElement!);
    this.marks.replaceChildren(...markers.map((marker) => this.mark(marker)));
    (this.marks.children[at] as HTMLElement | undefined)?.focus({ preventScroll: true });
  }

  setLanes(lanes: Lanes | null): void {
    this.lanes.set(lanes);
  }

  setDoubleClick(act: ((frame: number) => void) | null): void {
    this.doubleClick = act;
  }

  setRange(range: TrimRange | null): void {
    if (!range !== !this.range) this.part = null;
    this.range = range;
    this.trim.hidden = range === null;
    const cuts = [el("div", { class: "cut" }), el("div", { class: "cut" })];
    this.trim.replaceChildren(...(range ? [...cuts, this.handle("start"), this.handle("stop")] : []));
    this.paint();
    this.follow(this.stage.player);
  }

  zoom(way: "in" | "out"): void {
    this.show(zoomed(this.extent(), this.whole(), way === "in" ? 1 / ZOOM : ZOOM, this.stage.player.frame));
  }

  // -------------------------------------------------------------- showing

  private show(part: Extent): void {
    const whole = this.whole();
    this.part = part.span < whole.span ? part : null;
    this.paint();
    this.follow(this.stage.player);
  }

  private follow(player: Player): void {
    const { shown } = this.stage;
    const motion = shown[0] ?? null;
    if (shown.length !== this.cast.length || shown.some((one, k) => one !== this.cast[k])) {
      this.cast = shown;
      const first = (one: Motion) => shown.find(({ id }) => ownerOf(id) === ownerOf(one.id)) === one;
      this.motions = shown.filter(first).slice(0, MOST_STRIPS);
      if (motion?.frames !== this.motion?.frames) this.part = null;
      this.motion = motion;
      this.track.setAttribute("aria-valuemax", String(Math.max(player.frames - 1, 1)));
      this.paint();
    }
    if (this.part && player.playing) {
      const next = having(this.part, this.whole(), player.frame);
      if (next !== this.part) return this.show(next);
    }
    this.head.hidden = !this.inside(player.frame);
    this.head.style.transform = `translateX(${(this.share(player.frame) * this.width).toFixed(2)}px)`;
    const frame = Math.round(player.frame);
    if (this.track.getAttribute("aria-valuenow") !== String(frame) && !player.playing) {
      this.track.setAttribute("aria-valuenow", String(frame));
      this.track.setAttribute("aria-valuetext", `frame ${frame}, ${(frame / player.fps).toFixed(2)} seconds`);
    }
  }

  private paint(): void {
    const style = getComputedStyle(document.documentElement);
    const token = (name: string) => style.getPropertyValue(name).trim();
    const colours: StripColours = {
      text: token("--text"),
      quiet: token("--quiet"),
      empty: token("--strip"),
      contact: token("--contact"),
    };
    const { view, document: kept } = this.store.state;
    paintStrips(this.canvas, this.motions, (frame) => this.share(frame), kept.clips, colours, view.contacts);
    this.nameStrips(view.contacts);
    this.rule();
    this.setMarkers(this.markers);
    this.lanes.draw();
    this.placeTrim();
  }

  /** Strips are thinner than words: the joints of a side share one. */
  private nameStrips(contacts: boolean): void {
    const { source, gap, pitch } = layoutOf(this.motions.length);
    const feet = contacts && pitch > 0 ? (this.motion?.feet ?? []) : [];
    const names =
      this.motions.length < 2
        ? [stripName("clip", source + gap, "Which clip each frame comes from")]
        : this.motions.map((motion, k) => {
            const name = stripName("clip", source + gap, `Which clip each frame of ${motion.name} comes from`);
            const dot = el("span", { class: "swatch" });
            dot.style.setProperty("--swatch", shownColour(k));
            name.prepend(dot);
            return name;
          });
    for (let k = 0; k < feet.length; ) {
      const side = sideOf(feet[k]!);
      let next = k + 1;
      while (next < feet.length && side && sideOf(feet[next]!) === side) next++;
      names.push(stripName(side || feet[k]!, (next - k) * pitch, `Standing: ${feet.slice(k, next).join(", ")}`));
      k = next;
    }
    this.names.replaceChildren(...names);
  }

  private rule(): void {
    if (!this.motion) return this.ruler.replaceChildren();
    const { fps, frames } = this.motion;
    const { low, span } = this.extent();
    const step = TICKS_S.find((tick) => ((tick * fps) / span) * this.width >= WANTED_TICK_PX) ?? TICKS_S.at(-1)!;
    const ticks = [];
    for (let k = Math.max(0, Math.ceil(low / fps / step)); k * step * fps <= Math.min(low + span, frames - 1) + 1e-6; k++) {
      const tick = el("span", {}, step < 1 ? (k * step).toFixed(1) : String(k * step));
      tick.style.left = `${100 * this.share(k * step * fps)}%`;
      ticks.push(tick);
    }
    this.ruler.replaceChildren(...ticks);
  }

  private extent(): Extent {
    return this.part ?? this.whole();
  }

  /** All of the motion; while it can be trimmed, of the recording. */
  private whole(): Extent {
    const [low, high] = this.range ? [this.range.least, this.range.most] : [0, this.motion?.frames ?? 2];
    return { low, span: Math.max(high - 1 - low, 1) };
  }

  private share(frame: number): number {
    const { low, span } = this.extent();
    return Math.min(Math.max((frame - low) / span, 0), 1);
  }

  private inside(frame: number): boolean {
    const { low, span } = this.extent();
    return frame >= low - 1e-6 && frame <= low + span + 1e-6;
  }

  private frameAt(event: MouseEvent): number {
    // A press may come between another motion and the picture of it.
    if ((this.stage.shown[0] ?? null) !== this.motion) this.follow(this.stage.player);
    const { low, span } = this.extent();
    const box = this.track.getBoundingClientRect();
    return low + span * Math.min(Math.max((event.clientX - box.left) / Math.max(box.width, 1), 0), 1);
  }

  // -------------------------------------------------------------- using

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const [part, whole] = [this.extent(), this.whole()];
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const along = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (Math.abs(along) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      this.show(moved(part, whole, (along * pixels * part.span) / this.width));
    } else {
      this.show(zoomed(part, whole, Math.exp(0.003 * pixels * event.deltaY), this.frameAt(event)));
    }
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { player } = this.stage;
    this.wasPlaying = player.playing;
    player.pause();
    player.seek(Math.round(this.frameAt(event)));
    this.drag(event, (at) => player.seek(Math.round(at)), () => {
      if (this.wasPlaying) player.play();
    });
  }

  /** Follow a pointer from here until it is let go. */
  private drag(event: PointerEvent, move: (frame: number) => void, end: (frame: number) => void): void {
    const target = event.currentTarget as HTMLElement;
    target.setPointerCapture(event.pointerId);
    const moved = (next: PointerEvent) => move(this.frameAt(next));
    const ended = (next: PointerEvent) => {
      target.removeEventListener("pointermove", moved);
      target.removeEventListener("pointerup", ended);
      target.removeEventListener("pointercancel", ended);
      end(this.frameAt(next));
    };
    target.addEventListener("pointermove", moved);
    target.addEventListener("pointerup", ended);
    target.addEventListener("pointercancel", ended);
  }

  private mark(marker: Marker): HTMLElement {
    const mark = el("button", {
      class: "mark",
      title: marker.label,
      attrs: { type: "button", "aria-label": `${marker.label}, frame ${Math.round(marker.frame)}` },
    });
    mark.style.left = `${100 * this.share(marker.frame)}%`;
    mark.hidden = !this.inside(marker.frame);
    if (marker.colour) mark.style.setProperty("--mark", marker.colour);
    mark.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      if (!marker.move) return;
      let moved = false;
      this.held = true;
      this.drag(
        event,
        (frame) => {
          moved = true;
          mark.style.left = `${100 * this.share(frame)}%`;
          marker.move!(Math.round(frame), false);
        },
        (frame) => {
          this.held = false;
          if (moved) marker.move!(Math.round(frame), true);
        },
      );
    });
    mark.addEventListener("dblclick", (event) => event.stopPropagation());
    mark.addEventListener("click", () => (marker.click ? marker.click() : this.stage.player.seek(marker.frame)));
    mark.addEventListener("keydown", (event) => {
      if ((event.key === "Delete" || event.key === "Backspace") && marker.remove) {
        event.stopPropagation();
        marker.remove();
        return;
      }
      const step = arrow(event) * (event.shiftKey ? 10 : 1);
      if (!step || !marker.move) return;
      event.stopPropagation();
      marker.move(Math.round(marker.frame) + step, true);
    });
    return mark;
  }

  private handle(side: "start" | "stop"): HTMLElement {
    const handle = el("div", {
      class: `handle ${side}`,
      attrs: { role: "slider", tabindex: 0, "aria-label": side === "start" ? "First frame used" : "End of the frames used" },
    });
    const move = (frame: number, done: boolean) => {
      const range = this.range;
      if (!range || !this.motion) return;
      const at = Math.round(frame);
      if (side === "start") range.start = Math.min(Math.max(at, range.least), range.stop - 2);
      else range.stop = Math.max(Math.min(at, range.most), range.start + 2);
      this.placeTrim();
      this.stage.player.seek(side === "start" ? range.start : range.stop - 1);
      range.change(range.start, range.stop, done);
    };
    handle.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      this.drag(event, (frame) => move(frame, false), (frame) => move(frame, true));
    });
    handle.addEventListener("keydown", (event) => {
      const step = arrow(event) * (event.shiftKey ? 10 : 1);
      if (!step || !this.range) return;
      event.stopPropagation();
      event.preventDefault();
      move(this.range[side] + step, true);
    });
    return handle;
  }

  private placeTrim(): void {
    const range = this.range;
    if (!range || this.trim.children.length === 0) return;
    const [before, after, start, stop] = [...this.trim.children] as HTMLElement[];
    const [left, right] = [100 * this.share(range.start), 100 * this.share(range.stop)];
    before!.style.left = "0";
    before!.style.width = `${left}%`;
    after!.style.left = `${right}%`;
    after!.style.width = `${100 - right}%`;
    start!.style.left = `${left}%`;
    stop!.style.left = `${right}%`;
    for (const [handle, value] of [[start!, range.start], [stop!, range.stop]] as const) {
      handle.setAttribute("aria-valuenow", String(value));
      handle.setAttribute("aria-valuemin", String(range.least));
      handle.setAttribute("aria-valuemax", String(range.most));
    }
  }

  /** Say what the frame under the pointer shows. */
  private tell(event: PointerEvent): void {
    const { motion } = this;
    this.said.hidden = motion === null || event.pointerType === "touch";
    if (!motion || this.said.hidden) return;
    const frame = Math.round(this.frameAt(event));
    const run = motion.sources.find((source) => frame >= source.start && frame < source.stop);
    const words = motion.labels.filter((label) => frame >= label.start && frame < label.stop).map((label) => label.text);
    const source = run ? ` · ${run.clip}${run.blend === null ? "" : ` → ${run.blend}`}` : "";
    this.said.textContent = `${frame}${source}${words.length ? ` · ${words.join(", ")}` : ""}`;
    const box = this.element.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left, box.width - this.said.offsetWidth - 8);
    this.said.style.transform = `translateX(${left}px)`;
  }
}

function sideOf(joint: string): string {
  return SIDES.find(([pattern]) => pattern.test(joint))?.[1] ?? "";
}

function stripName(text: string, height: number, title: string): HTMLElement {
  const name = el("span", { title }, text);
  name.style.height = `${height}px`;
  return name;
}

function arrow(event: KeyboardEvent): number {
  return event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
}
