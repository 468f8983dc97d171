/** A faint cloud of dots in one draw: places that a search has looked at. */

import { BufferAttribute, BufferGeometry, Points, PointsMaterial, Vector3 } from "three";
import { TEAL } from "../colours";
import type { At, DotsOverlay, Place } from "../types";
import { Drawn, type OverlayLayer, placed } from "./overlays";

const SIZE_PX = 3;
const ABOVE_M = 0.008;

export class DrawnDots extends Drawn implements DotsOverlay {
  readonly dots = new Points(
    new BufferGeometry(),
    new PointsMaterial({ color: TEAL, size: SIZE_PX * window.devicePixelRatio, sizeAttenuation: false, transparent: true, opacity: 0.5, depthWrite: false }),
  );

  constructor(owner: OverlayLayer, at: readonly At[], colour?: string) {
    super(owner);
    this.object.add(this.dots);
    this.update(at, colour);
  }

  update(at: readonly At[], colour?: string): void {
    const flat = new Float32Array(3 * at.length);
    at.forEach((place, k) => placed(place, ABOVE_M).toArray(flat, 3 * k));
    this.dots.geometry.dispose(); // a buffer cannot grow
    this.dots.geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(flat, 3));
    if (colour) this.dots.material.color.set(colour);
    this.owner.redraw();
  }

  override remove(): void {
    super.remove();
    this.dots.geometry.dispose();
    this.dots.material.dispose();
  }

  where(): Place {
    return new Vector3();
  }

  /** Nobody means one dot. */
  away(): number {
    return Infinity;
  }
}
