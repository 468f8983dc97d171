/** Words on the stage: elements laid over the picture at places of the scene. */

import { Vector2, Vector3, type PerspectiveCamera } from "three";
import { el } from "../dom";
import { onScreen } from "./screen";

export class Labels {
  readonly element = el("div", { class: "stage-labels", attrs: { "aria-hidden": "true" } });
  private readonly held = new Map<HTMLElement, Held>();

  /** An element that stays at `at`, which may change. */
  add(at: Vector3, shown: () => boolean = () => true): HTMLElement {
    const label = el("div", { class: "stage-label" });
    this.held.set(label, { at, shown, text: "", half: 0 });
    this.element.append(label);
    return label;
  }

  remove(label: HTMLElement): void {
    this.held.delete(label);
    label.remove();
  }

  update(camera: PerspectiveCamera, width: number, height: number): void {
    for (const [label, held] of this.held) {
      const seen = held.shown() && onScreen(held.at, { camera, width, height }, PIXEL) && PIXEL.x >= 0 && PIXEL.x <= width;
      label.hidden = !seen;
      if (!seen) continue;
      const x = within(PIXEL.x, halfOf(label, held), width);
      label.style.transform = `translate(-50%, -50%) translate(${x.toFixed(1)}px, ${PIXEL.y.toFixed(1)}px)`;
    }
  }
}

interface Held {
  at: Vector3;
  shown: () => boolean;
  /** What it said when it was last measured, and how far it then reached to either side, pixels. */
  text: string;
  half: number;
}

/** Measured once for each text: every measurement makes the browser lay out the page. */
function halfOf(label: HTMLElement, held: Held): number {
  const text = label.textContent ?? "";
  if (text !== held.text) [held.text, held.half] = [text, label.offsetWidth / 2];
  return held.half;
}

/** The middle of a label of a place in the picture: all of it is to be read, unless it is wider than the picture. */
function within(x: number, half: number, width: number): number {
  const least = half + MARGIN_PX;
  return 2 * least > width ? x : Math.min(Math.max(x, least), width - least);
}

const MARGIN_PX = 4;

const PIXEL = new Vector2();
