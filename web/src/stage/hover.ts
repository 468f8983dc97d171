/** Names of joints under the pointer. */

import { Vector2, Vector3, type Bone } from "three";
import { onScreen, type Probe } from "./screen";

const REACH_PX = 14;

export interface Hovered {
  figure: number;
  joint: number;
}

/** The joint nearest to the pointer, of all figures. */
export function nearestJoint(figures: readonly { bones: readonly Bone[] }[], probe: Probe): Hovered | null {
  let best: Hovered | null = null;
  let nearest = REACH_PX;
  figures.forEach(({ bones }, figure) => {
    bones.forEach((bone, joint) => {
      if (!onScreen(PLACE.setFromMatrixPosition(bone.matrixWorld), probe, PIXEL)) return;
      const away = Math.hypot(PIXEL.x - probe.x, PIXEL.y - probe.y);
      if (away < nearest) [best, nearest] = [{ figure, joint }, away];
    });
  });
  return best;
}

const PLACE = new Vector3();
const PIXEL = new Vector2();
