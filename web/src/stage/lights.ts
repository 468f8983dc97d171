/** One key light with a soft shadow, and the fill from sky and floor; both go with the figures. */

import { DirectionalLight, Group, HemisphereLight, Vector3 } from "three";
import type { StageTheme } from "./theme";

const SHADOW_MAP = 2048;
const NEAREST_M = 4;
const FARTHEST_M = 16;

export class Lights {
  readonly object = new Group();
  private readonly key = new DirectionalLight("#fff4e6");
  private readonly fill = new HemisphereLight();
  /** Shadows are cast so far around the middle. */
  private reach = 0;

  constructor() {
    const { shadow } = this.key;
    this.key.castShadow = true;
    shadow.mapSize.set(SHADOW_MAP, SHADOW_MAP);
    shadow.radius = 5;
    shadow.bias = -0.0004;
    shadow.normalBias = 0.03;
    [shadow.camera.near, shadow.camera.far] = [1, 32];
    this.follow(new Vector3(), 0);
    this.object.add(this.key, this.key.target, this.fill);
  }

  setTheme(theme: StageTheme): void {
    this.fill.color.set(theme.sky);
    this.fill.groundColor.set(theme.bounce);
    this.fill.intensity = theme.hemisphere;
    this.key.intensity = theme.key;
  }

  /** Light figures that stand so far around a middle. */
  follow(middle: Vector3, spread: number): void {
    const reach = Math.min(NEAREST_M * Math.ceil((spread + 3) / NEAREST_M), FARTHEST_M);
    if (reach !== this.reach) {
      this.reach = reach;
      const { camera } = this.key.shadow;
      [camera.left, camera.right, camera.top, camera.bottom] = [-reach, reach, reach, -reach];
      camera.updateProjectionMatrix();
    }
    // By whole texels of the shadow's map, so that its edge does not crawl.
    const texel = (2 * reach) / SHADOW_MAP;
    this.key.target.position.set(Math.round(middle.x / texel) * texel, 0, Math.round(middle.z / texel) * texel);
    this.key.position.copy(this.key.target.position).add(SUN);
  }
}

const SUN = new Vector3(3.2, 7.5, 4.2);
