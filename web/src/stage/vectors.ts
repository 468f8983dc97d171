/** Arrows in space: forces and velocities, from where they act to where they point. */

import { ConeGeometry, CylinderGeometry, Mesh, MeshBasicMaterial, Vector2, Vector3 } from "three";
import { TEAL } from "../colours";
import type { Place, VectorOverlay } from "../types";
import { Drawn, type OverlayLayer } from "./overlays";
import { onScreen, toSegment, type Probe } from "./screen";

const SHAFT_M = 0.014;
const HEAD_M = 0.12;
/** Shorter ones are not worth drawing. */
const LEAST_M = 0.01;
const UP = new Vector3(0, 1, 0);

export class DrawnVector extends Drawn implements VectorOverlay {
  private readonly material = new MeshBasicMaterial({ color: TEAL, toneMapped: false });
  private readonly shaft = new Mesh(new CylinderGeometry(SHAFT_M, SHAFT_M, 1, 12).translate(0, 0.5, 0), this.material);
  private readonly head = new Mesh(new ConeGeometry(2.8 * SHAFT_M, 1, 16).translate(0, 0.5, 0), this.material);
  private readonly from = new Vector3();
  private readonly along = new Vector3();

  constructor(owner: OverlayLayer) {
    super(owner);
    this.object.add(this.shaft, this.head);
    this.object.visible = false;
  }

  update(from: readonly number[], along: readonly number[], colour?: string): void {
    this.from.fromArray(from as number[]);
    this.along.fromArray(along as number[]);
    const length = this.along.length();
    this.object.visible = length > LEAST_M;
    if (colour) this.material.color.set(colour);
    if (this.object.visible) {
      const head = Math.min(HEAD_M, 0.5 * length);
      this.object.position.copy(this.from);
      this.object.quaternion.setFromUnitVectors(UP, this.along.clone().divideScalar(length));
      this.shaft.scale.set(1, length - head, 1);
      this.head.scale.set(1, head, 1);
      this.head.position.y = length - head;
    }
    this.owner.redraw();
  }

  where(): Place {
    return this.from;
  }

  away(probe: Probe): number {
    const [a, b] = [new Vector2(), new Vector2()];
    if (!onScreen(this.from, probe, a) || !onScreen(this.from.clone().add(this.along), probe, b)) return Infinity;
    return toSegment(probe.x, probe.y, a, b) - 3;
  }
}
