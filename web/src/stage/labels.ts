/** Words on the stage: elements laid over the picture at places of the scene. */

import { Vector2, Vector3, type PerspectiveCamera } from "three";
import { el } from "../dom";
import { onScreen } from "./screen";

export class Labels {
  readonly element = el("div", { class: "stage-labels", attrs: { "aria-hidden": "true" } });
  private readonly held = new Map<HTMLElement, { at: Vector3; shown: () => boolean }>();

  /** An element that stays at `at`, which may change. */
  add(at: Vector3, shown: () => boolean = () => true): HTMLElement {
    const label = el("div", { class: "stage-label" });
    this.held.set(label, { at, shown });
    this.element.append(label);
    return label;
  }

  remove(label: HTMLElement): void {
    this.held.delete(label);
    label.remove();
  }

  update(camera: PerspectiveCamera, width: number, height: number): void {
    for (const [label, { at, shown }] of this.held) {
      const seen = shown() && onScreen(at, { camera, width, height }, PIXEL);
      label.hidden = !seen;
      if (seen) label.style.transform = `translate(-50%, -50%) translate(${PIXEL.x.toFixed(1)}px, ${PIXEL.y.toFixed(1)}px)`;
    }
  }
}

const PIXEL = new Vector2();
