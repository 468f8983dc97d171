/** What a hand says: arrow keys or WASD, a gamepad, and a stick on the screen for touch; as one direction and push. */

import { el } from "../dom";

/** To the right and up as the user sees it, each from -1 to 1. */
export interface Push {
  right: number;
  up: number;
  fast: boolean;
}

const KEYS: Record<string, [number, number]> = {
  ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
  w: [0, 1], s: [0, -1], a: [-1, 0], d: [1, 0],
};
/** Push below which a stick rests. */
const REST = 0.25;

export class SteerInput {
  readonly stick = el("div", { class: "steer-stick", attrs: { role: "application", "aria-label": "Stick: drag to steer", tabindex: "0" } });
  private readonly knob = el("div", { class: "steer-knob" });
  private readonly down = new Set<string>();
  private fast = false;
  private dragged: { right: number; up: number } | null = null;
  private listening = false;

  constructor() {
    this.stick.append(this.knob);
    this.stick.addEventListener("pointerdown", (event) => {
      this.stick.setPointerCapture(event.pointerId);
      this.drag(event);
    });
    this.stick.addEventListener("pointermove", (event) => this.dragged && this.drag(event));
    for (const end of ["pointerup", "pointercancel"] as const) {
      this.stick.addEventListener(end, () => {
        this.dragged = null;
        this.knob.style.transform = "";
      });
    }
  }

  listen(on: boolean): void {
    if (on === this.listening) return;
    this.listening = on;
    this.down.clear();
    const change = on ? window.addEventListener : window.removeEventListener;
    change.call(window, "keydown", this.press as EventListener, true);
    change.call(window, "keyup", this.release as EventListener, true);
    change.call(window, "blur", this.forget, true);
  }

  private readonly press = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (target.matches("input, textarea, select, [contenteditable], [role=tab]") || event.ctrlKey || event.metaKey || event.altKey) return;
    this.fast = event.shiftKey;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!(name in KEYS)) return;
    event.preventDefault();
    event.stopPropagation(); // the timeline's keys are these too
    this.down.add(name);
  };

  private readonly release = (event: KeyboardEvent): void => {
    this.fast = event.shiftKey;
    this.down.delete(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  };

  private readonly forget = (): void => this.down.clear();

  private drag(event: PointerEvent): void {
    const box = this.stick.getBoundingClientRect();
    const half = box.width / 2;
    let right = (event.clientX - box.left - half) / half;
    let up = -(event.clientY - box.top - half) / half;
    const size = Math.hypot(right, up);
    if (size > 1) [right, up] = [right / size, up / size];
    this.dragged = { right, up };
    this.knob.style.transform = `translate(${right * half * 0.6}px, ${-up * half * 0.6}px)`;
  }

  /** What is pushed now; null where nothing is. */
  read(): Push | null {
    let [right, up] = [0, 0];
    for (const name of this.down) {
      right += KEYS[name]![0];
      up += KEYS[name]![1];
    }
    if (right === 0 && up === 0 && this.dragged) ({ right, up } = this.dragged);
    let fast = this.fast;
    if (right === 0 && up === 0) {
      const pad = navigator.getGamepads?.().find((one) => one?.connected);
      if (pad) {
        [right, up] = [pad.axes[0] ?? 0, -(pad.axes[1] ?? 0)];
        fast = pad.buttons[0]?.pressed ?? false;
      }
    }
    return Math.hypot(right, up) < REST ? null : { right, up, fast };
  }
}
