/** Things that panels draw on the stage, and how a pointer finds them. */

import {
  BoxGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Object3D,
  RingGeometry,
  SphereGeometry,
  Vector2,
  Vector3,
  type BufferGeometry,
} from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { AMBER } from "../colours";
import type {
  ArrowOverlay,
  At,
  DragHooks,
  LineOverlay,
  LineStyle,
  Overlay,
  Place,
  Solid,
  SolidOverlay,
  SphereOverlay,
  TextOverlay,
} from "../types";
import type { Labels } from "./labels";
import { onScreen, pixels, toSegment, type Probe } from "./screen";

/** Above the floor by this much, so that lines do not sink into it. */
const ABOVE_M = 0.006;

export function placed(at: At, lift = 0): Vector3 {
  return at.length === 3 ? new Vector3(at[0], at[1], at[2]) : new Vector3(at[0], lift, at[1]);
}

/** All of a kind: what is drawn, what a pointer finds. */
export abstract class Drawn implements Overlay {
  readonly object: Object3D = new Group();
  hooks: DragHooks | null = null;

  constructor(
    protected readonly owner: OverlayLayer,
    readonly lines = false,
  ) {
    owner.add(this);
  }

  get visible(): boolean {
    return this.object.visible;
  }
  set visible(visible: boolean) {
    this.object.visible = visible;
    this.owner.redraw();
  }

  draggable(hooks: DragHooks | null): this {
    this.hooks = hooks;
    return this;
  }

  remove(): void {
    this.owner.drop(this);
    this.object.traverse((part) => {
      if (part instanceof Mesh) {
        (part.geometry as BufferGeometry).dispose();
        for (const material of [part.material].flat()) material.dispose();
      }
    });
  }

  /** Show that a press would take it. */
  emphasise(_on: boolean): void {}

  /** Where it is, for dragging and turning. */
  abstract where(): Place;
  /** How far the pointer is from it, pixels; Infinity where it cannot be meant. */
  abstract away(probe: Probe): number;
}

export class OverlayLayer {
  readonly object = new Group();
  readonly all = new Set<Drawn>();

  constructor(
    readonly redraw: () => void,
    readonly labels: Labels,
  ) {}

  add(drawn: Drawn): void {
    this.all.add(drawn);
    this.object.add(drawn.object);
    this.redraw();
  }

  drop(drawn: Drawn): void {
    this.all.delete(drawn);
    drawn.object.removeFromParent();
    this.redraw();
  }

  /** The thing to press that is nearest to the pointer; what is small goes before what is large. */
  pick(probe: Probe, reach: number): Drawn | null {
    let best: Drawn | null = null;
    let nearest = reach;
    for (const drawn of this.all) {
      if (!drawn.hooks || !drawn.visible) continue;
      const away = drawn.away(probe) + (drawn.lines ? 6 : 0);
      if (away < nearest) [best, nearest] = [drawn, away];
    }
    return best;
  }
}

// ---------------------------------------------------------------- kinds

export class DrawnLine extends Drawn implements LineOverlay {
  private points: readonly At[] = [];
  private style: LineStyle = { colour: AMBER, width: 3, dashed: false, opacity: 1 };
  private readonly line: Line2;

  constructor(owner: OverlayLayer, points: readonly At[], style?: Partial<LineStyle>) {
    super(owner, true);
    this.line = new Line2(new LineGeometry(), flatLine());
    this.line.renderOrder = 1;
    this.line.frustumCulled = false;
    this.object.add(this.line);
    this.update(points, style);
  }

  update(points: readonly At[], style: Partial<LineStyle> = {}): void {
    this.points = points;
    this.style = { ...this.style, ...style };
    const { line } = this;
    line.visible = points.length > 1;
    if (line.visible) {
      const flat = new Float32Array(3 * points.length);
      points.forEach((at, k) => placed(at, ABOVE_M).toArray(flat, 3 * k));
      line.geometry.dispose();
      line.geometry = new LineGeometry().setPositions(flat);
      if (this.style.dashed) line.computeLineDistances();
    }
    const material = line.material;
    material.color.set(this.style.colour);
    material.linewidth = this.style.width;
    material.opacity = this.style.opacity;
    material.transparent = this.style.opacity < 1;
    if (material.dashed !== this.style.dashed) {
      material.dashed = this.style.dashed;
      material.needsUpdate = true;
    }
    this.owner.redraw();
  }

  where(): Place {
    return placed(this.points[0] ?? [0, 0]);
  }

  away(probe: Probe): number {
    let least = Infinity;
    const a = new Vector2();
    const b = new Vector2();
    let seen = false;
    for (const at of this.points) {
      const shown = onScreen(placed(at, ABOVE_M), probe, b);
      if (seen && shown) least = Math.min(least, toSegment(probe.x, probe.y, a, b));
      a.copy(b);
      seen = shown;
    }
    return least - this.style.width / 2;
  }
}

export class DrawnArrow extends Drawn implements ArrowOverlay {
  private readonly material = flat(AMBER);
  private at = new Vector3();
  private tip = new Vector3();

  constructor(owner: OverlayLayer, at: At, heading: number, style?: { colour?: string; length?: number }) {
    super(owner);
    this.update(at, heading, style);
  }

  private length = 0.7;

  update(at: At, heading: number, style: { colour?: string; length?: number } = {}): void {
    if (style.colour) this.material.color.set(style.colour);
    if (style.length || this.object.children.length === 0) {
      this.length = style.length ?? this.length;
      this.build();
    }
    this.object.position.copy(placed(at, ABOVE_M));
    this.object.rotation.y = heading;
    this.at.copy(this.object.position);
    this.tip.set(Math.sin(heading), 0, Math.cos(heading)).multiplyScalar(this.length).add(this.at);
    this.owner.redraw();
  }

  private build(): void {
    for (const part of this.object.children) ((part as Mesh).geometry as BufferGeometry).dispose();
    this.object.clear();
    const head = Math.min(0.24, 0.4 * this.length);
    const shaft = new BoxGeometry(0.05, 0.012, this.length - head).translate(0, 0, (this.length - head) / 2);
    const cone = new ConeGeometry(0.11, head, 24).rotateX(Math.PI / 2).scale(1, 0.15, 1).translate(0, 0, this.length - head / 2);
    const ring = new RingGeometry(0.09, 0.13, 32).rotateX(-Math.PI / 2);
    for (const shape of [shaft, cone, ring]) this.object.add(new Mesh(shape, this.material));
  }

  where(): Place {
    return this.at;
  }

  away(probe: Probe): number {
    const a = new Vector2();
    const b = new Vector2();
    if (!onScreen(this.at, probe, a) || !onScreen(this.tip, probe, b)) return Infinity;
    return toSegment(probe.x, probe.y, a, b) - 4;
  }
}

export class DrawnSphere extends Drawn implements SphereOverlay {
  private readonly mesh: Mesh<SphereGeometry, MeshStandardMaterial>;
  private label: TextOverlay | null = null;
  private radius = 0.06;
  private large = false;

  constructor(owner: OverlayLayer, at: At, style?: { colour?: string; radius?: number; label?: string }) {
    super(owner);
    this.mesh = new Mesh(new SphereGeometry(1, 24, 16), new MeshStandardMaterial({ color: AMBER, roughness: 0.5 }));
    this.mesh.castShadow = true;
    this.object.add(this.mesh);
    this.update(at, style);
  }

  update(at: At, style: { colour?: string; radius?: number; label?: string } = {}): void {
    this.mesh.position.copy(placed(at));
    this.radius = style.radius ?? this.radius;
    this.grow();
    if (style.colour) this.mesh.material.color.set(style.colour);
    if (style.label !== undefined) {
      this.label?.remove();
      this.label = style.label ? new DrawnText(this.owner, at, style.label) : null;
    }
    const { x, y, z } = this.mesh.position;
    this.label?.update([x, y + this.radius + 0.06, z], style.label ?? (this.label as DrawnText).text);
    this.owner.redraw();
  }

  override emphasise(on: boolean): void {
    if (on === this.large) return;
    this.large = on;
    this.grow();
    this.owner.redraw();
  }

  private grow(): void {
    this.mesh.scale.setScalar(this.radius * (this.large ? 1.4 : 1));
  }

  override remove(): void {
    this.label?.remove();
    super.remove();
  }

  where(): Place {
    return this.mesh.position;
  }

  away(probe: Probe): number {
    const centre = new Vector2();
    if (!onScreen(this.mesh.position, probe, centre)) return Infinity;
    return Math.hypot(centre.x - probe.x, centre.y - probe.y) - pixels(this.mesh.position, this.radius, probe);
  }
}

export class DrawnSolid extends Drawn implements SolidOverlay {
  private readonly mesh: Mesh<BufferGeometry, MeshStandardMaterial>;

  constructor(owner: OverlayLayer, solid: Solid, style?: { colour?: string; opacity?: number }) {
    super(owner);
    const material = new MeshStandardMaterial({ color: AMBER, roughness: 0.8, transparent: true, opacity: 0.35, depthWrite: false });
    this.mesh = new Mesh<BufferGeometry, MeshStandardMaterial>(new BoxGeometry(), material);
    this.mesh.renderOrder = 4;
    this.object.add(this.mesh);
    this.update(solid, style);
  }

  update(solid: Solid, style: { colour?: string; opacity?: number } = {}): void {
    this.mesh.geometry.dispose();
    // Given on the floor, a solid stands on it; given in space, that is its middle.
    const standing = solid.at.length === 2;
    const at = placed(solid.at);
    if (solid.kind === "box") {
      this.mesh.geometry = new BoxGeometry(...solid.size);
      this.mesh.rotation.y = solid.yaw ?? 0;
      if (standing) at.y = solid.size[1] / 2;
    } else if (solid.kind === "cylinder") {
      this.mesh.geometry = new CylinderGeometry(solid.radius, solid.radius, solid.height, 48);
      if (standing) at.y = solid.height / 2;
    } else {
      this.mesh.geometry = new SphereGeometry(solid.radius, 48, 32);
      if (standing) at.y = solid.radius;
    }
    this.mesh.position.copy(at);
    if (style.colour) this.mesh.material.color = new Color(style.colour);
    if (style.opacity) this.mesh.material.opacity = style.opacity;
    this.owner.redraw();
  }

  where(): Place {
    return this.mesh.position;
  }

  away(probe: Probe): number {
    // Large things lose against what stands on or in them.
    return probe.ray.intersectObject(this.mesh, false).length > 0 ? 9 : Infinity;
  }
}

export class DrawnText extends Drawn implements TextOverlay {
  text = "";
  private readonly at = new Vector3();
  private readonly element: HTMLElement;

  constructor(owner: OverlayLayer, at: At, text: string, colour?: string) {
    super(owner);
    this.element = owner.labels.add(this.at, () => this.object.visible);
    this.update(at, text, colour);
  }

  update(at: At, text: string, colour?: string): void {
    this.text = text;
    this.at.copy(placed(at));
    this.element.textContent = text;
    if (colour) this.element.style.setProperty("--colour", colour);
    this.owner.redraw();
  }

  override remove(): void {
    this.owner.labels.remove(this.element);
    super.remove();
  }

  where(): Place {
    return this.at;
  }

  away(probe: Probe): number {
    const centre = new Vector2();
    if (!onScreen(this.at, probe, centre)) return Infinity;
    return Math.max(0, Math.abs(centre.x - probe.x) - 20) + Math.max(0, Math.abs(centre.y - probe.y) - 8);
  }
}

// ---------------------------------------------------------------- helpers

export function flatLine(): LineMaterial {
  return new LineMaterial({ linewidth: 3, toneMapped: false, dashSize: 0.12, gapSize: 0.08, polygonOffset: true, polygonOffsetFactor: -2 });
}

function flat(colour: string): MeshBasicMaterial {
  return new MeshBasicMaterial({ color: colour, toneMapped: false, polygonOffset: true, polygonOffsetFactor: -2 });
}
