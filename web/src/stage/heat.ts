/** Values of bones as colours on a figure's skin: clay where there is nothing, violet at the full value, red beyond it. */

import { BufferAttribute, Color, type SkinnedMesh } from "three";
import { RED } from "../colours";

/** As clay looks in the light of the stage. */
export const CLAY = "#b9ab9d";
export const FULL = "#7d5ce0";

export class SkinHeat {
  private readonly base: Float32Array;
  private readonly colours: BufferAttribute;

  /** The mesh gets a geometry of its own: figures of one skeleton share theirs. */
  constructor(private readonly mesh: SkinnedMesh) {
    mesh.geometry = mesh.geometry.clone();
    const { position, color } = mesh.geometry.attributes;
    this.base = new Float32Array(3 * position!.count).fill(1);
    for (let k = 0; color && k < color.count; k++) this.base.set([color.getX(k), color.getY(k), color.getZ(k)], 3 * k);
    this.colours = new BufferAttribute(this.base.slice(), 3);
    mesh.geometry.setAttribute("color", this.colours);
  }

  /** By bone, from 0 to 1 and beyond; null for none. */
  set(values: ArrayLike<number> | null): void {
    const { skinIndex, skinWeight } = this.mesh.geometry.attributes;
    const out = this.colours.array as Float32Array;
    if (!values || !skinIndex || !skinWeight) out.set(this.base);
    else {
      for (let k = 0; k < this.colours.count; k++) {
        let value = 0;
        for (let c = 0; c < 4; c++) value += skinWeight.getComponent(k, c) * (values[skinIndex.getComponent(k, c)] ?? 0);
        const share = Math.min(Math.max(value, 0), 1) ** 0.6; // so that a third is seen, too
        const to = value > 1.02 ? OVER : AT_FULL;
        for (let c = 0; c < 3; c++) out[3 * k + c] = this.base[3 * k + c]! * (1 - share) + share * to[c]!;
      }
    }
    this.colours.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
  }
}

const AT_FULL = new Color(FULL).toArray();
const OVER = new Color(RED).toArray();
