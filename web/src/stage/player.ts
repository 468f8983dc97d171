/** Time: which frame is shown. Knows nothing of figures. */

import type { Player } from "../types";

export class Clock implements Player {
  private at = 0;
  private count = 1;
  private rate = 30;
  private going = false;
  private looping = true;
  private factor = 1;
  private changed = true;
  private readonly watchers = new Set<(player: Player) => void>();
  /** Frames that can be shown so far, while a motion arrives; all of them otherwise. */
  available = 1;

  get playing(): boolean {
    return this.going;
  }
  get frame(): number {
    return this.at;
  }
  get frames(): number {
    return this.count;
  }
  get fps(): number {
    return this.rate;
  }
  get loop(): boolean {
    return this.looping;
  }
  set loop(loop: boolean) {
    this.looping = loop;
    this.changed = true;
  }
  get speed(): number {
    return this.factor;
  }
  set speed(speed: number) {
    this.factor = Math.min(8, Math.max(0.05, speed));
    this.changed = true;
  }

  play(): void {
    if (this.at >= this.count - 1) this.at = 0;
    this.going = true;
    this.changed = true;
  }

  pause(): void {
    this.going = false;
    this.changed = true;
  }

  toggle(): void {
    if (this.going) this.pause();
    else this.play();
  }

  seek(frame: number): void {
    this.at = Math.min(Math.max(frame, 0), Math.max(Math.min(this.count, this.available) - 1, 0));
    this.changed = true;
  }

  step(frames: number): void {
    this.pause();
    const whole = frames > 0 ? Math.floor(this.at + 1e-6) : Math.ceil(this.at - 1e-6);
    this.seek(whole + frames);
  }

  /** Another motion is on the stage. */
  load(frames: number, fps: number, from: number, available = frames): void {
    this.count = Math.max(frames, 1);
    this.rate = fps;
    this.available = available;
    this.seek(from);
  }

  /** Go on by so many seconds of the wall; true where the frame changed. */
  tick(seconds: number): boolean {
    if (!this.going) return this.changed;
    const last = this.count - 1;
    let next = this.at + seconds * this.rate * this.factor;
    if (this.available < this.count) {
      next = Math.min(next, Math.max(this.available - 1, this.at)); // wait for what is still coming
    } else if (next >= last) {
      if (this.looping && last > 0) next %= last;
      else {
        next = last;
        this.going = false;
      }
    }
    this.at = next;
    this.changed = true;
    return true;
  }

  /** Tell everyone, if there is anything to tell. */
  flush(): void {
    if (!this.changed) return;
    this.changed = false;
    for (const watcher of this.watchers) watcher(this);
  }

  subscribe(fn: (player: Player) => void): () => void {
    this.watchers.add(fn);
    fn(this);
    return () => this.watchers.delete(fn);
  }
}
