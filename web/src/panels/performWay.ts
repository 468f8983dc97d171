/** A way performed on the floor: where the hand is, and when; and a dot that goes as an example went, to feel it by. */

import { AMBER } from "../colours";
import type { FloorTool, LineOverlay, SphereOverlay, Stage, TextOverlay } from "../types";
import type { Point } from "./path";

/** Seconds, x and z. */
export type Sample = [number, number, number];

/** Seconds between samples. */
const STEP_S = 1 / 30;
/** A hand that is silent for so long rests: one that moves is heard of many times a second. */
const RESTS_S = 0.25;
/** Seconds over which the hand's speed is told. */
const SPEED_S = 0.3;
/** Seconds below which a press is a slip of the hand. */
const SHORTEST_S = 0.4;

export interface WayHooks {
  /** New samples, as they come; `first` with the first ones. */
  moved(samples: Sample[], first: boolean): void;
  /** All of them, when the hand is lifted. */
  done(samples: Sample[]): void;
  cancelled(): void;
  /** How fast the hand goes now, m/s; null when it is lifted. */
  speed(now: number | null): void;
}

export class Way {
  private readonly line: LineOverlay;
  private kept: Point[] = [];
  private samples: Sample[] | null = null;
  private sent = 0;
  private began = 0;
  private at: Point = [0, 0];
  private onFloor = true;
  private timer = 0;
  private ticked = 0;
  private dot: { sphere: SphereOverlay; track: LineOverlay; label: TextOverlay; stop(): void } | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly hooks: WayHooks,
  ) {
    this.line = stage.addLine([], { colour: AMBER, width: 3 });
    this.line.visible = false;
    stage.element.addEventListener(
      "pointermove",
      (event) => {
        if (this.samples) this.onFloor = stage.floor.under(event) !== null;
      },
      { capture: true },
    );
  }

  get performing(): boolean {
    return this.samples !== null;
  }

  show(visible: boolean): void {
    this.line.visible = visible;
    this.stage.floor.setTool(visible ? this.tool() : null);
    if (!visible) {
      this.abandon();
      this.still();
    }
  }

  /** Show the way that was performed. */
  set(samples: readonly Sample[]): void {
    this.kept = samples.map(([, x, z]): Point => [x, z]);
    if (!this.samples) this.line.update(this.kept);
  }

  // -------------------------------------------------------------- performing

  private tool(): FloorTool {
    return {
      cursor: "crosshair",
      down: ({ x, z, event }) => {
        if (event.button !== 0 || event.altKey) return false;
        this.still();
        [this.samples, this.sent, this.began, this.onFloor] = [[], 0, event.timeStamp, true];
        this.take(0, [x, z]);
        this.timer = window.setInterval(() => this.tick(), 1000 * STEP_S);
        return true;
      },
      move: ({ x, z, event }) => this.take((event.timeStamp - this.began) / 1000, [x, z]),
      up: ({ x, z, event }) => {
        const samples = this.samples;
        if (!samples) return;
        this.take((event.timeStamp - this.began) / 1000, [x, z]);
        window.clearInterval(this.timer);
        this.samples = null;
        this.hooks.speed(null);
        if (samples.at(-1)![0] >= SHORTEST_S) this.hooks.done(samples);
        else this.give();
      },
      cancel: () => this.abandon(),
    };
  }

  private take(t: number, at: Point): void {
    const { samples } = this;
    if (!samples) return;
    this.at = at;
    const last = samples.at(-1);
    if (last && t - last[0] < 0.9 * STEP_S) return;
    if (last && this.onFloor) samples.push(...rests(last[0], t).map((rest): Sample => [rest, last[1], last[2]]));
    samples.push([rounded(t), rounded(at[0]), rounded(at[1])]);
    this.line.update(samples.map(([, x, z]): Point => [x, z]));
    this.hooks.speed(speedOf(samples));
  }

  /** A hand that rests says nothing, but time goes on; off the floor nothing is known. Then send what is new. */
  private tick(): void {
    const { samples } = this;
    if (!samples) return;
    const now = (performance.now() - this.began) / 1000;
    // A page that was busy has not heard yet what the hand did meanwhile.
    const late = now - this.ticked > 2 * STEP_S;
    this.ticked = now;
    if (this.onFloor && !late && now - samples.at(-1)![0] > RESTS_S) this.take(now - RESTS_S / 2, this.at);
    const fresh = samples.slice(this.sent);
    if (fresh.length === 0) return;
    this.hooks.moved(fresh, this.sent === 0);
    this.sent = samples.length;
  }

  private abandon(): void {
    if (this.samples) this.give();
  }

  private give(): void {
    window.clearInterval(this.timer);
    this.samples = null;
    this.line.update(this.kept);
    this.hooks.speed(null);
    this.hooks.cancelled();
  }

  // -------------------------------------------------------------- feeling the speed

  get feeling(): boolean {
    return this.dot !== null;
  }

  /** Let a dot go round and round as somebody went. */
  feel(track: readonly Point[], fps: number, name: string): void {
    this.still();
    if (track.length < 2) return;
    const began = performance.now();
    const sphere = this.stage.addSphere(track[0]!, { colour: "#ffffff", radius: 0.09 });
    const line = this.stage.addLine(track, { colour: "#98a1af", width: 2, dashed: true });
    const label = this.stage.addText([track[0]![0], 0.3, track[0]![1]], name);
    let waiting = 0;
    const step = () => {
      const frame = (((performance.now() - began) / 1000) * fps) % (track.length - 1);
      const [a, b] = [track[Math.floor(frame)]!, track[Math.floor(frame) + 1]!];
      const share = frame % 1;
      const [x, z] = [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
      const back = track[Math.max(0, Math.floor(frame - SPEED_S * fps))]!;
      const seconds = Math.min(frame, SPEED_S * fps) / fps;
      const speed = seconds > 0.1 ? `, ${(Math.hypot(x - back[0], z - back[1]) / seconds).toFixed(1)} m/s` : "";
      sphere.update([x, 0.09, z]);
      label.update([x, 0.35, z], `${name}${speed}`);
      waiting = requestAnimationFrame(step);
    };
    step();
    this.dot = { sphere, track: line, label, stop: () => cancelAnimationFrame(waiting) };
  }

  /** Take the dot away. */
  still(): void {
    if (!this.dot) return;
    this.dot.stop();
    for (const drawn of [this.dot.sphere, this.dot.track, this.dot.label]) drawn.remove();
    this.dot = null;
  }
}

/** To the millisecond and the millimetre. */
const rounded = (value: number): number => Math.round(1000 * value) / 1000;

/** Moments at which a hand that was not heard of in between rested, up to right before it went on. */
function rests(from: number, to: number): number[] {
  if (to - from < RESTS_S) return [];
  const count = Math.floor((to - from - 2 * STEP_S) / RESTS_S);
  return [...Array.from({ length: count }, (_, k) => from + (k + 1) * RESTS_S), to - STEP_S].map(rounded);
}

function speedOf(samples: readonly Sample[]): number {
  const last = samples.at(-1)!;
  const before = samples.findLast(([t]) => last[0] - t >= SPEED_S) ?? samples[0]!;
  const seconds = last[0] - before[0];
  return seconds < SPEED_S / 2 ? 0 : Math.hypot(last[1] - before[1], last[2] - before[2]) / seconds;
}
