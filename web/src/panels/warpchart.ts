/** A warp as a curve: seconds of the result to the right, frames of the motion upwards; key times are dragged along it.
    Under it, how fast hands and feet move. */

import { el } from "../dom";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 256;
const HEIGHT = 150;
/** Of the speeds of hands, and of feet below them. */
const SPEEDS_HEIGHT = 52;
const PAD = { left: 30, right: 8, top: 8, bottom: 18 };
/** Room to drag the end to, as a share of what is there. */
const ROOM = 1.25;

export interface Warp {
  seconds: number[];
  frames: number[];
  rates: number[];
}

export interface Key {
  frame: number;
  seconds: number;
  /** Whether it is the first or the last: those stay. */
  end: boolean;
}

export interface Speed {
  name: string;
  kind: "hand" | "foot";
  side: "left" | "right";
  seconds: number[];
  m_s: number[];
}

export interface WarpView {
  warp: Warp | null;
  keys: readonly Key[];
  /** Of the motion as recorded. */
  frames: number;
  fps: number;
}

export interface WarpHooks {
  move(frame: number, seconds: number, done: boolean): void;
  add(seconds: number): void;
  remove(frame: number): void;
}

export interface WarpChart {
  element: HTMLElement;
  set(view: WarpView): void;
  /** Of the result, and as recorded. */
  setSpeeds(speeds: readonly Speed[], before: readonly Speed[]): void;
  setTime(seconds: number): void;
}

/** The frame that a warp shows at a second. */
export const frameAt = (warp: Warp, seconds: number): number => between(warp.seconds, warp.frames, seconds);

/** The second at which a warp shows a frame. */
export const secondsAt = (warp: Warp, frame: number): number => between(warp.frames, warp.seconds, frame);

function between(from: readonly number[], to: readonly number[], at: number): number {
  const above = from.findIndex((value) => value >= at);
  const k = above < 0 ? from.length - 1 : above;
  const before = Math.max(0, k - 1);
  const span = from[k]! - from[before]!;
  const t = span > 0 ? Math.min(1, Math.max(0, (at - from[before]!) / span)) : 1;
  return to[before]! + t * (to[k]! - to[before]!);
}

export function warpChart(hooks: WarpHooks): WarpChart {
  let view: WarpView = { warp: null, keys: [], frames: 2, fps: 30 };
  let speeds: readonly Speed[] = [];
  let recordedSpeeds: readonly Speed[] = [];
  let widest = 1;
  let dragging = false;
  const now = draw("line", { class: "now", y1: PAD.top, y2: HEIGHT - PAD.bottom });
  const [ground, points] = [draw("g", {}), draw("g", {})];
  const svg = draw("svg", { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Warp" });
  svg.append(ground, now, points);
  const below = draw("svg", {
    class: "speeds",
    viewBox: `0 0 ${WIDTH} ${2 * SPEEDS_HEIGHT}`,
    role: "img",
    "aria-label": "Speed of hands and feet; faint, as recorded",
  });
  const element = el("div", { class: "warp" });
  element.append(svg, below);

  const x = (seconds: number) => PAD.left + (seconds / widest) * (WIDTH - PAD.left - PAD.right);
  const y = (frame: number) => HEIGHT - PAD.bottom - (frame / Math.max(view.frames - 1, 1)) * (HEIGHT - PAD.top - PAD.bottom);
  const under = (event: MouseEvent): number => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / Math.max(box.width, 1)) * WIDTH;
    return Math.min(Math.max((at - PAD.left) / (WIDTH - PAD.left - PAD.right), 0), 1) * widest;
  };

  function show(): void {
    const recorded = (view.frames - 1) / view.fps;
    if (!dragging) widest = ROOM * Math.max(recorded, view.keys.at(-1)?.seconds ?? 0, 0.1);
    ground.replaceChildren();
    for (const frame of [0, view.frames - 1]) {
      ground.append(
        draw("line", { class: "rule", x1: PAD.left, x2: WIDTH - PAD.right, y1: y(frame), y2: y(frame) }),
        draw("text", { x: PAD.left - 4, y: y(frame) + 3, "text-anchor": "end" }, String(frame)),
      );
    }
    for (const share of [0, 0.5, 1]) {
      const anchor = share === 0 ? "start" : share === 1 ? "end" : "middle";
      ground.append(draw("text", { x: x(share * widest), y: HEIGHT - 4, "text-anchor": anchor }, `${(share * widest).toFixed(1)} s`));
    }
    ground.append(draw("path", { class: "recorded", d: line([0, recorded], [0, view.frames - 1], x, y) }));
    if (view.warp) ground.append(draw("path", { class: "warped", d: line(view.warp.seconds, view.warp.frames, x, y) }));
    const focused = [...points.children].indexOf(document.activeElement!);
    // Whoever is dragged stays the same element, or the pointer would lose it.
    while (points.children.length > view.keys.length) points.lastElementChild!.remove();
    while (points.children.length < view.keys.length) points.append(point(points.children.length));
    view.keys.forEach((key, k) => place(points.children[k]!, key));
    if (focused >= 0) (points.children[focused] as SVGElement | undefined)?.focus({ preventScroll: true });
    showSpeeds();
  }

  function place(circle: Element, key: Key): void {
    const said = `Frame ${key.frame} at ${key.seconds.toFixed(2)} s`;
    const values = {
      cx: x(key.seconds), cy: y(key.frame), r: key.end ? 4 : 5.5,
      "aria-label": `Key time of frame ${key.frame}`, "aria-valuetext": said, "aria-valuenow": key.seconds.toFixed(3),
      "aria-valuemin": 0, "aria-valuemax": widest.toFixed(3), "data-frame": key.frame,
    };
    for (const [name, value] of Object.entries(values)) circle.setAttribute(name, String(value));
    circle.classList.toggle("fixed", key.frame === 0);
  }

  function point(k: number): SVGCircleElement {
    const circle = draw("circle", { class: "key", role: "slider", tabindex: 0 });
    const key = () => view.keys[k]!;
    circle.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      if (event.button !== 0 || key().frame === 0) return;
      circle.setPointerCapture(event.pointerId);
      dragging = true;
    });
    circle.addEventListener("pointermove", (event) => {
      if (dragging && circle.hasPointerCapture(event.pointerId)) hooks.move(key().frame, under(event), false);
    });
    const end = (event: PointerEvent) => {
      if (!dragging) return;
      dragging = false;
      hooks.move(key().frame, under(event), true);
    };
    circle.addEventListener("pointerup", end);
    circle.addEventListener("pointercancel", end);
    circle.addEventListener("dblclick", (event) => event.stopPropagation());
    circle.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      const { frame, seconds, end: stays } = key();
      if ((event.key === "Delete" || event.key === "Backspace") && !stays) hooks.remove(frame);
      else if (step && frame > 0) hooks.move(frame, seconds + (step * (event.shiftKey ? 10 : 1)) / view.fps, true);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return circle;
  }

  function showSpeeds(): void {
    below.replaceChildren(
      ...(["hand", "foot"] as const).flatMap((kind, row) => {
        const of = (all: readonly Speed[]) => all.filter((speed) => speed.kind === kind);
        const fastest = Math.max(0.5, ...of([...speeds, ...recordedSpeeds]).flatMap(({ m_s }) => m_s));
        const level = (value: number) => (row + 1) * SPEEDS_HEIGHT - 4 - (value / fastest) * (SPEEDS_HEIGHT - 14);
        const curve = (when: string) => ({ name, side, seconds, m_s }: Speed) => {
          const path = draw("path", { class: `${kind} ${side} ${when}`, d: line(seconds, m_s, x, level) });
          path.append(draw("title", {}, when ? `${name}, as recorded` : name));
          return path;
        };
        return [
          draw("line", { class: "rule", x1: PAD.left, x2: WIDTH - PAD.right, y1: level(0), y2: level(0) }),
          draw("text", { x: PAD.left - 4, y: level(0) + 2, "text-anchor": "end" }, "0"),
          draw("text", { x: PAD.left - 4, y: level(fastest) + 4, "text-anchor": "end" }, fastest.toFixed(1)),
          draw("text", { x: PAD.left + 2, y: row * SPEEDS_HEIGHT + 9 }, kind === "hand" ? "hands, m/s" : "feet, m/s"),
          ...of(recordedSpeeds).map(curve("before")),
          ...of(speeds).map(curve("")),
        ];
      }),
    );
  }

  svg.addEventListener("dblclick", (event) => hooks.add(under(event)));
  return {
    element,
    set(next) {
      view = next;
      show();
    },
    setSpeeds(next, before) {
      [speeds, recordedSpeeds] = [next, before];
      showSpeeds();
    },
    setTime(seconds) {
      const at = x(Math.min(seconds, widest)).toFixed(1);
      now.setAttribute("x1", at);
      now.setAttribute("x2", at);
    },
  };
}

function line(across: readonly number[], up: readonly number[], x: (at: number) => number, y: (at: number) => number): string {
  return across.map((at, k) => `${k ? "L" : "M"}${x(at).toFixed(1)} ${y(up[k]!).toFixed(1)}`).join("");
}

function draw<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attrs: Record<string, string | number>,
  text?: string,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}
