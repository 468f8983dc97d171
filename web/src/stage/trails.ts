/** What a shown motion leaves behind: its root's path on the floor, foot plants, and ghosts every n frames. */

import { CircleGeometry, Color, Group, InstancedMesh, Matrix4, MeshBasicMaterial, Vector3 } from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { TEAL } from "../colours";
import type { StageView } from "../types";
import { Ghost, type Template } from "./figure";
import { flatLine } from "./overlays";
import type { StageTheme } from "./theme";
import type { Track } from "./track";

const MOST_POINTS = 2000;
/** More are not told apart, and each is a figure to draw. */
const MOST_GHOSTS = 40;
const PLANT_RADIUS_M = 0.055;

export class Trail {
  readonly object = new Group();
  private readonly travelled: Line2;
  private readonly ahead: Line2;
  private readonly plants: InstancedMesh<CircleGeometry, MeshBasicMaterial>;
  private readonly spans: [number, number][] = [];
  private ghosts: Ghost[] = [];
  private stride = 1;
  private lit = "";
  private readonly bright = new Color();
  private readonly past = new Color();
  private readonly coming = new Color();

  constructor(
    private readonly track: Track,
    private readonly template: Template,
    private readonly colour = TEAL,
  ) {
    this.bright.set(colour).offsetHSL(0, 0, 0.12);
    const positions = this.line();
    const make = (opacity: number, order: number) => {
      const line = new Line2(new LineGeometry().setPositions(positions), flatLine());
      line.material.color.set(colour);
      line.material.linewidth = 3;
      line.material.opacity = opacity;
      line.material.transparent = true;
      line.material.depthWrite = false;
      line.renderOrder = order;
      line.frustumCulled = false;
      return line;
    };
    this.ahead = make(0.35, 0);
    this.travelled = make(1, 1);
    this.plants = this.footprints();
    this.object.add(this.ahead, this.travelled, this.plants);
  }

  dress({ paths, contacts, ghosts, ghost_every }: StageView, theme: StageTheme): void {
    this.ahead.visible = this.travelled.visible = paths && this.track.available > 1;
    this.plants.visible = contacts && this.plants.count > 0;
    this.past.set(this.colour).lerp(FLOOR.set(theme.floor), 0.4);
    this.coming.set(this.colour).lerp(FLOOR, 0.65);
    this.lit = "?";
    this.setGhosts(ghosts ? ghost_every : null, theme.ghost);
  }

  private setGhosts(every: number | null, colour: string): void {
    for (const ghost of this.ghosts) ghost.dispose();
    this.ghosts = [];
    if (every === null) return;
    const frames = this.track.available;
    const stride = Math.max(every, Math.ceil(frames / MOST_GHOSTS));
    for (let frame = 0; frame < frames; frame += stride) {
      const ghost = new Ghost(this.template, colour, 0.22);
      this.track.pose(ghost.bones, frame);
      this.object.add(ghost.object);
      this.ghosts.push(ghost);
    }
  }

  /** What is behind and what is ahead of this frame; nothing is allocated while it plays. */
  update(frame: number): void {
    const done = Math.floor(Math.min(frame, this.track.available - 1) / this.stride);
    this.travelled.geometry.instanceCount = Math.max(done, 0);
    if (!this.plants.visible) return;
    let lit = "";
    for (let k = 0; k < this.spans.length; k++) {
      const [start, stop] = this.spans[k]!;
      if (frame >= start && frame < stop) lit += `${k},`;
    }
    if (lit === this.lit) return;
    this.lit = lit;
    this.spans.forEach(([start, stop], k) => {
      this.plants.setColorAt(k, frame >= start && frame < stop ? this.bright : frame >= stop ? this.past : this.coming);
    });
    this.plants.instanceColor!.needsUpdate = true;
  }

  dispose(): void {
    this.setGhosts(null, "");
    for (const line of [this.ahead, this.travelled]) {
      line.geometry.dispose();
      line.material.dispose();
    }
    this.plants.geometry.dispose();
    this.plants.material.dispose();
    this.plants.dispose();
    this.object.removeFromParent();
  }

  private line(): Float32Array {
    const frames = this.track.available;
    this.stride = Math.max(1, Math.ceil(frames / MOST_POINTS));
    const count = Math.max(Math.ceil(frames / this.stride), 2);
    const positions = new Float32Array(3 * count);
    for (let k = 0; k < count; k++) {
      const at = this.track.root(k * this.stride, WORK);
      positions.set([at.x, 0.008, at.z], 3 * k);
    }
    return positions;
  }

  private footprints(): InstancedMesh<CircleGeometry, MeshBasicMaterial> {
    const { motion } = this.track;
    const places: Matrix4[] = [];
    motion.feet.forEach((foot, k) => {
      const joint = motion.joints.indexOf(foot);
      for (const [start, stop] of motion.contacts[k] ?? []) {
        if (joint < 0 || stop > this.track.available) continue;
        const at = this.track.joint(joint, (start + stop - 1) / 2);
        places.push(new Matrix4().makeTranslation(at.x, 0.005, at.z));
        this.spans.push([start, stop]);
      }
    });
    const material = new MeshBasicMaterial({ transparent: true, opacity: 0.9, depthWrite: false, toneMapped: false });
    material.polygonOffset = true;
    material.polygonOffsetFactor = -2;
    const disc = new CircleGeometry(PLANT_RADIUS_M, 24).rotateX(-Math.PI / 2);
    const plants = new InstancedMesh(disc, material, Math.max(places.length, 1));
    plants.count = places.length;
    plants.frustumCulled = false;
    places.forEach((place, k) => {
      plants.setMatrixAt(k, place);
      plants.setColorAt(k, this.coming);
    });
    return plants;
  }
}

const WORK = new Vector3();
const FLOOR = new Color();
