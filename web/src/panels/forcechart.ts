/** Ground forces over time, and where the motion is in them. */

import { CLIP_COLOURS } from "../colours";
import { el } from "../dom";
import type { Mechanics } from "./mechanics";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [256, 96];
const PAD = { left: 26, right: 4, top: 8, bottom: 16 };
const MOST_POINTS = 256;

export interface ForceChart {
  element: HTMLElement;
  set(mechanics: Mechanics | null): void;
  setTime(seconds: number): void;
}

/** A chart that calls `seek` with the second that was pressed. */
export function forceChart(seek: (seconds: number) => void): ForceChart {
  let seconds = 0;
  const svg = part("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}` });
  const hand = part("line", { y1: PAD.top, y2: HEIGHT - PAD.bottom, class: "now" });
  const element = el("div", { class: "force-chart", attrs: { role: "img", "aria-label": "Ground forces over time" }, hidden: true });
  element.append(svg);
  const x = (at: number) => PAD.left + (at / Math.max(seconds, 1e-6)) * (WIDTH - PAD.left - PAD.right);
  element.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    seek(Math.min(Math.max(((at - PAD.left) / (WIDTH - PAD.left - PAD.right)) * seconds, 0), seconds));
  });
  return {
    element,
    set(mechanics) {
      element.hidden = mechanics === null;
      if (!mechanics) return;
      const count = mechanics.com.length;
      seconds = (count - 1) / mechanics.rate;
      const up = mechanics.limbs.map((_, limb) => mechanics.forces.map((sample) => sample[limb]![1]));
      const most = Math.max(1.5, ...mechanics.forces.map((sample) => sample.reduce((sum, force) => sum + force[1], 0)));
      const y = (value: number) => HEIGHT - PAD.bottom - (value / most) * (HEIGHT - PAD.top - PAD.bottom);
      const step = Math.max(1, Math.ceil(count / MOST_POINTS));
      const curves = up.map((values, limb) => {
        const points: string[] = [];
        for (let k = 0; k < count; k += step) points.push(`${x(k / mechanics.rate).toFixed(1)},${y(values[k]!).toFixed(1)}`);
        return part("polyline", { points: points.join(" "), fill: "none", stroke: CLIP_COLOURS[limb % CLIP_COLOURS.length]!, "stroke-width": 1.5 });
      });
      const levels = Array.from({ length: Math.floor(most) + 1 }, (_, k) => [
        part("line", { x1: PAD.left, x2: WIDTH - PAD.right, y1: y(k), y2: y(k), class: "grid" }),
        part("text", { x: PAD.left - 4, y: y(k) + 3, "text-anchor": "end" }, String(k)),
      ]).flat();
      const names = mechanics.limbs.map((limb, k) =>
        part("text", { x: PAD.left + 4 + 62 * k, y: HEIGHT - 3, fill: CLIP_COLOURS[k % CLIP_COLOURS.length]!, class: "name" }, limb.replace("_", " ")),
      );
      svg.replaceChildren(...levels, ...curves, ...names, part("text", { x: WIDTH - PAD.right, y: HEIGHT - 3, "text-anchor": "end" }, "BW"), hand);
    },
    setTime(at) {
      for (const name of ["x1", "x2"]) hand.setAttribute(name, x(Math.min(at, seconds)).toFixed(1));
    },
  };
}

function part(tag: string, attrs: Record<string, string | number>, text?: string): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}
