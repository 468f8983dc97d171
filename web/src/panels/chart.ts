/** Connectivity against the threshold, as a curve whose threshold can be dragged. */

import { el } from "../dom";
import type { Curve } from "../messages";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 256;
const HEIGHT = 112;
const PAD = { left: 34, right: 6, top: 6, bottom: 18 };

/** What the curve and the slider above it end with at least, metres. */
export const WIDEST_M = 0.4;

export interface Chart {
  element: HTMLElement;
  setCurve(curve: Curve | null): void;
  set(threshold: number): void;
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

/** Where the scale ends. */
export const widestOf = (curve: Curve | null): number => Math.max(WIDEST_M, curve?.threshold_m.at(-1) ?? 0);

/** What a curve says at a threshold, between the two that it knows. */
export function read(curve: Curve, threshold: number): { shown: number; clips: number; transitions: number } {
  const known = curve.threshold_m;
  const above = known.findIndex((value) => value >= threshold);
  const k = above < 0 ? known.length - 1 : above;
  const before = Math.max(0, k - 1);
  const span = known[k]! - known[before]!;
  const t = span > 0 ? Math.min(1, (threshold - known[before]!) / span) : 1;
  const between = (values: number[]) => (values[before] ?? 0) + t * ((values[k] ?? 0) - (values[before] ?? 0));
  return {
    shown: between(curve.shown_share),
    clips: between(curve.clip_share),
    transitions: Math.round(between(curve.transitions)),
  };
}

/** A chart that calls `move` while the threshold is dragged, with `done` at the end. */
export function chart(move: (threshold: number, done: boolean) => void): Chart {
  let curve: Curve | null = null;
  let threshold = 0.05;
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  const element = el("div", {
    class: "chart",
    attrs: { role: "slider", tabindex: 0, "aria-label": "Threshold, on the curve of connectivity" },
  });
  element.append(svg);
  const widest = () => widestOf(curve);
  const x = (value: number) => PAD.left + (value / widest()) * (WIDTH - PAD.left - PAD.right);
  const y = (share: number) => HEIGHT - PAD.bottom - share * (HEIGHT - PAD.top - PAD.bottom);
  const cm = (value: number) => `${Math.round(value * 1000) / 10} cm`;

  function show(): void {
    svg.replaceChildren();
    for (const share of [0, 0.5, 1]) {
      svg.append(draw("line", { class: "rule", x1: PAD.left, x2: WIDTH - PAD.right, y1: y(share), y2: y(share) }));
      svg.append(draw("text", { x: PAD.left - 4, y: y(share) + 3, "text-anchor": "end" }, `${100 * share}%`));
    }
    for (const share of [0, 0.5, 1]) {
      const anchor = share === 0 ? "start" : share === 1 ? "end" : "middle";
      svg.append(draw("text", { x: x(share * widest()), y: HEIGHT - 4, "text-anchor": anchor }, cm(share * widest())));
    }
    if (curve) {
      const line = (shares: number[]) =>
        curve!.threshold_m.map((value, k) => `${k ? "L" : "M"}${x(value).toFixed(1)} ${y(shares[k]!).toFixed(1)}`).join(
          "",
        );
      svg.append(
        draw("path", { class: "clips", d: line(curve.clip_share) }),
        draw("path", { class: "frames", d: line(curve.shown_share) }),
      );
    }
    const at = x(Math.min(threshold, widest()));
    svg.append(draw("line", { class: "threshold", x1: at, x2: at, y1: PAD.top, y2: HEIGHT - PAD.bottom }));
    svg.append(draw("circle", { class: "threshold", cx: at, cy: y(curve ? read(curve, threshold).shown : 0), r: 5 }));
    element.setAttribute("aria-valuemin", "0");
    element.setAttribute("aria-valuemax", widest().toFixed(3));
    element.setAttribute("aria-valuenow", threshold.toFixed(3));
    const said = curve
      ? `${cm(threshold)}: ${Math.round(100 * read(curve, threshold).shown)} % of the frames`
      : cm(threshold);
    element.setAttribute("aria-valuetext", said);
  }

  function to(value: number, done: boolean): void {
    threshold = Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000;
    show();
    move(threshold, done);
  }
  const under = (event: PointerEvent): number => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    return (Math.min(1, Math.max(0, (at - PAD.left) / (WIDTH - PAD.left - PAD.right)))) * widest();
  };
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    to(under(event), false);
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) to(under(event), false);
  });
  element.addEventListener("pointerup", (event) => to(under(event), true));
  element.addEventListener("keydown", (event) => {
    const step = {
      ArrowLeft: -0.001,
      ArrowDown: -0.001,
      ArrowRight: 0.001,
      ArrowUp: 0.001,
      PageUp: 0.01,
      PageDown: -0.01,
    }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    to(threshold + step, true);
  });
  show();
  return {
    element,
    setCurve(now) {
      curve = now;
      show();
    },
    set(now) {
      threshold = now;
      show();
    },
  };
}
