/** The camera: turns about a target, which may be the one who walks. */

import { PerspectiveCamera, Vector3 } from "three";
import type { At, StageCamera } from "../types";

const NEAREST_M = 0.6;
const FARTHEST_M = 80;
const LOWEST = Math.PI / 2 - 0.02;
/** Seconds in which the camera makes up most of what it is behind. */
const LAG_S = 0.25;
const EYE_LEVEL_M = 0.85;
/** Who is to be seen whole: as tall, and as wide to each side. */
const FIGURE_M = 1.9;
const ARM_M = 0.6;
/** Share of the picture's height and width that is for them; the rest is air, and for words along the edges. */
const SEEN = 0.85;
const NEAREST_FRAME_M = 4;
/** From straight above: there the floor is what is looked at. */
const ABOVE = 0.3;
/** Share of the picture, from its middle, within which the figure may walk while the camera is held. */
const HELD = 0.8;

export class OrbitCamera implements StageCamera {
  readonly lens = new PerspectiveCamera(38, 1, 0.05, 600);
  readonly target = new Vector3(0, EYE_LEVEL_M, 0);
  distance = 7.5;
  /** Angle about +y from +z at which the camera stands. */
  azimuth = 0.7;
  /** From straight above. */
  polar = 1.16;
  /** Whether it goes with the figure. */
  follow = true;
  /** Whether it stays where somebody drew or moved something, as long as the figure is in the picture. */
  held = false;
  /** Hears that the user moved the target away, which ends following. */
  onLeave: () => void = () => undefined;
  /** Where the figure faces, for views from its front and side. */
  heading: () => number = () => 0;
  changed = true;

  private readonly wanted = new Vector3();
  private goal: { azimuth: number; polar: number; distance: number } | null = null;

  resize(width: number, height: number): void {
    this.lens.aspect = width / Math.max(height, 1);
    this.lens.updateProjectionMatrix();
    this.changed = true;
  }

  turn(dx: number, dy: number): void {
    this.goal = null;
    this.azimuth -= dx * 0.006;
    this.polar = Math.min(Math.max(this.polar - dy * 0.006, 0.02), LOWEST);
    this.changed = true;
  }

  /** By pixels of a view of this height, along the picture. */
  pan(dx: number, dy: number, height: number): void {
    const metres = (2 * this.distance * Math.tan((this.lens.fov * Math.PI) / 360)) / height;
    const right = WORK.setFromMatrixColumn(this.lens.matrix, 0).multiplyScalar(-dx * metres);
    this.target.add(right);
    this.target.x -= Math.sin(this.azimuth) * dy * metres;
    this.target.z -= Math.cos(this.azimuth) * dy * metres;
    if (this.follow) {
      this.follow = false;
      this.onLeave();
    }
    this.changed = true;
  }

  zoom(factor: number): void {
    this.goal = null;
    this.distance = Math.min(Math.max(this.distance * factor, NEAREST_M), FARTHEST_M);
    this.changed = true;
  }

  view(number: number): void {
    const front = this.heading();
    const turns = [0.7, 0, Math.PI / 2, Math.PI, 0][number - 1];
    if (turns === undefined) return;
    this.held = false;
    const polar = number === 5 ? 0.02 : number === 1 ? 1.16 : 1.42;
    let azimuth = number === 5 ? 0 : front + turns;
    azimuth += 2 * Math.PI * Math.round((this.azimuth - azimuth) / (2 * Math.PI)); // the short way round
    this.goal = { azimuth, polar, distance: number === 5 ? Math.max(this.distance, 9) : this.distance };
    this.changed = true;
  }

  /** Stand as near as lets whoever is at one of these places be seen whole, looking from where it looks now. */
  frame(points: readonly At[]): void {
    if (points.length === 0) return;
    this.goal = null;
    const low = new Vector3(Infinity, 0, Infinity);
    const high = new Vector3(-Infinity, 0, -Infinity);
    const places = points.map((at) => new Vector3(at[0], 0, at.length === 3 ? at[2] : at[1]));
    for (const place of places) {
      low.min(place);
      high.max(place);
    }
    this.target.addVectors(low, high).multiplyScalar(0.5).setY(EYE_LEVEL_M);
    const back = new Vector3().setFromSphericalCoords(1, this.polar, this.azimuth);
    const right = new Vector3(Math.cos(this.azimuth), 0, -Math.sin(this.azimuth));
    const up = new Vector3().crossVectors(back, right);
    const tall = SEEN * Math.tan((this.lens.fov * Math.PI) / 360);
    const wide = tall * this.lens.aspect;
    // A place that is this far to the right of the middle is in the picture if it is deep enough; so is one above it.
    this.distance = NEAREST_FRAME_M;
    for (const place of places) {
      for (const height of [0, FIGURE_M]) {
        const seen = WORK.copy(place).setY(height).sub(this.target);
        const aside = (Math.abs(seen.dot(right)) + ARM_M) / wide;
        const depth = Math.max(aside, Math.abs(seen.dot(up)) / tall);
        this.distance = Math.max(this.distance, depth + seen.dot(back));
      }
    }
    this.distance = Math.min(this.distance, FARTHEST_M);
    this.changed = true;
  }

  shot(): ReturnType<StageCamera["shot"]> {
    const { lens, target } = this;
    return { position: lens.position.toArray(), target: target.toArray(), field_of_view_deg: lens.fov, aspect: lens.aspect };
  }

  /** Where the figure is now; at once where it jumped. */
  track(x: number, z: number, seconds: number, jump: boolean): void {
    if (!this.follow) return;
    this.wanted.set(x, this.target.y, z);
    if (this.held || (this.goal?.polar ?? this.polar) < ABOVE) {
      if (this.sees(this.wanted)) return;
      this.inward(this.wanted);
      jump = false;
    }
    if (this.target.distanceToSquared(this.wanted) < 1e-8) return;
    this.target.lerp(this.wanted, jump ? 1 : 1 - Math.exp(-seconds / LAG_S));
    this.changed = true;
  }

  /** Whether a place is well within the picture. */
  private sees(place: Vector3): boolean {
    const seen = WORK.copy(place).project(this.lens);
    return Math.max(Math.abs(seen.x), Math.abs(seen.y)) <= HELD && seen.z < 1;
  }

  /** From a place out of the picture to the target that just brings it back into it. */
  private inward(place: Vector3): void {
    const seen = WORK.copy(place).project(this.lens);
    const out = seen.z < 1 ? Math.max(Math.abs(seen.x), Math.abs(seen.y)) : Infinity;
    // As the target goes towards it by a share, it goes towards the middle by about as much.
    place.sub(this.target).multiplyScalar(Math.max(1 - HELD / out, 0.05)).add(this.target);
  }

  update(seconds: number): void {
    if (this.goal) {
      const share = 1 - Math.exp(-seconds / 0.06);
      this.azimuth += share * (this.goal.azimuth - this.azimuth);
      this.polar += share * (this.goal.polar - this.polar);
      this.distance += share * (this.goal.distance - this.distance);
      if (Math.abs(this.goal.azimuth - this.azimuth) + Math.abs(this.goal.polar - this.polar) < 1e-3) this.goal = null;
      this.changed = true;
    }
    const { lens, target } = this;
    lens.position.setFromSphericalCoords(this.distance, this.polar, this.azimuth).add(target);
    lens.position.y = Math.max(lens.position.y, 0.05);
    lens.lookAt(target);
    lens.updateMatrix();
    lens.updateMatrixWorld();
  }
}

const WORK = new Vector3();
