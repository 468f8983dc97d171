/** The corner of the stage that says which way is which, and how long a metre is. */

import { Vector3, type PerspectiveCamera } from "three";
import { el } from "../dom";

const ARM_PX = 18;
const WANTED_PX = 72;
const LENGTHS_M = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];

export class Compass {
  readonly element: HTMLElement;
  private readonly arms: { line: SVGLineElement; text: SVGTextElement; axis: Vector3 }[];
  private readonly bar = el("div", { class: "length" });
  private readonly length = el("span", {});

  constructor() {
    const svg = shape("svg", { viewBox: "-28 -28 56 56", width: "56", height: "56" });
    this.arms = (["x", "y", "z"] as const).map((name, k) => {
      const line = shape("line", { class: name, x1: "0", y1: "0" }) as SVGLineElement;
      const text = shape("text", { class: name, "text-anchor": "middle", "dominant-baseline": "central" }) as SVGTextElement;
      text.textContent = name;
      svg.append(line, text);
      return { line, text, axis: new Vector3().setComponent(k, 1) };
    });
    this.element = el(
      "div",
      { class: "compass", attrs: { "aria-hidden": "true" } },
      svg,
      el("div", { class: "scale" }, this.length, this.bar),
    );
  }

  private drawn = "";

  update(camera: PerspectiveCamera, distance: number, height: number): void {
    const { x, y, z, w } = camera.quaternion;
    const now = `${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)} ${w.toFixed(4)} ${distance.toFixed(4)} ${height}`;
    if (now === this.drawn) return;
    this.drawn = now;
    for (const { line, text, axis } of this.arms) {
      const seen = WORK.copy(axis).transformDirection(camera.matrixWorldInverse);
      line.setAttribute("x2", (ARM_PX * seen.x).toFixed(1));
      line.setAttribute("y2", (-ARM_PX * seen.y).toFixed(1));
      text.setAttribute("x", ((ARM_PX + 7) * seen.x).toFixed(1));
      text.setAttribute("y", (-(ARM_PX + 7) * seen.y).toFixed(1));
      line.style.opacity = text.style.opacity = String(seen.z < -0.2 ? 0.45 : 1);
    }
    const perMetre = height / (2 * distance * Math.tan((camera.fov * Math.PI) / 360));
    const metres = LENGTHS_M.findLast((length) => length * perMetre <= WANTED_PX) ?? LENGTHS_M[0]!;
    this.bar.style.width = `${(metres * perMetre).toFixed(1)}px`;
    this.length.textContent = metres < 1 ? `${metres * 100} cm` : `${metres} m`;
  }
}

function shape(tag: string, attributes: Record<string, string>): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const WORK = new Vector3();
