/** A head in a view of its own, over the stage: a surface that weights move, and landmarks to drag. */

import {
  AmbientLight,
  BufferAttribute,
  BufferGeometry,
  Color,
  DirectionalLight,
  DoubleSide,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  PerspectiveCamera,
  Plane,
  Raycaster,
  Scene,
  SphereGeometry,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { AMBER, TEAL } from "../colours";
import { el } from "../dom";
import type { FaceSurface } from "../messages";

const CLAY = "#cfc4b8";

const bytes = (text: string): ArrayBuffer => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
export const floats = (text: string): Float32Array<ArrayBuffer> => new Float32Array(bytes(text));
const indices = (text: string): Uint32Array<ArrayBuffer> => new Uint32Array(bytes(text));
/** A shape's name as all programs mean it. */
export const shapeKey = (name: string): string =>
  name.replace(/_L$/, "left").replace(/_R$/, "right").replace(/[_ ]/g, "").toLowerCase();

export interface HeadHooks {
  /** A landmark is dragged to x, y, z, in the surface's own unit. */
  drag(landmark: number, at: [number, number, number], done: boolean): void;
}

export class HeadView {
  readonly canvas = el("canvas", { attrs: { "aria-label": "The face: drag a landmark, or turn the head", role: "application", tabindex: 0 } });
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(30, 1, 0.01, 1e4);
  private readonly orbit: OrbitControls;
  private readonly dots: Mesh[] = [];
  private readonly parts: Mesh[] = [];
  private neutral = new Float32Array();
  private moves = new Float32Array();
  private shapes: string[] = [];
  private skin: Mesh | null = null;
  private held: { landmark: number; plane: Plane } | null = null;
  private marked = new Set<number>();

  constructor(private readonly hooks: HeadHooks) {
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: true });
    this.orbit = new OrbitControls(this.camera, this.canvas);
    this.orbit.addEventListener("change", () => this.draw());
    const key = new DirectionalLight("#fff4e6", 2.4);
    key.position.set(0.6, 0.9, 1.4);
    this.scene.add(new AmbientLight("#aebfd8", 1.1), key);
    this.scene.background = new Color("#14171c");
    this.canvas.addEventListener("pointerdown", (event) => this.grab(event));
    this.canvas.addEventListener("pointermove", (event) => this.pull(event, false));
    this.canvas.addEventListener("pointerup", (event) => this.pull(event, true));
    new ResizeObserver(() => this.resize()).observe(this.canvas);
  }

  setSurface(surface: FaceSurface): void {
    for (const part of [...this.parts, ...this.dots]) this.scene.remove(part);
    this.parts.length = this.dots.length = 0;
    this.shapes = surface.shapes.map(shapeKey);
    [this.neutral, this.moves] = [floats(surface.vertices), floats(surface.moves)];
    this.skin = this.part(this.neutral.slice(), indices(surface.triangles), CLAY);
    for (const { vertices, triangles } of surface.still) this.part(floats(vertices), indices(triangles), "#e8e6e2");
    this.skin.geometry.computeBoundingSphere();
    const { center, radius } = this.skin.geometry.boundingSphere!;
    if (surface.landmarks) {
      const ball = new SphereGeometry(radius * 0.02, 12, 8);
      for (let n = 0; n < this.neutral.length / 3; n += 1) {
        const dot = new Mesh(ball, new MeshBasicMaterial({ color: TEAL }));
        this.dots.push(dot);
        this.scene.add(dot);
      }
    }
    [this.camera.near, this.camera.far] = [radius / 50, radius * 50];
    this.camera.position.set(center.x, center.y, center.z + radius * 4.4);
    this.orbit.target.copy(center);
    this.orbit.update();
    this.resize();
    this.setWeights([], new Float32Array());
  }

  private part(vertices: Float32Array, triangles: Uint32Array, colour: string): Mesh {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(vertices, 3));
    geometry.setIndex(new BufferAttribute(triangles, 1));
    geometry.computeVertexNormals();
    const made = new Mesh(geometry, new MeshStandardMaterial({ color: colour, roughness: 0.8, side: DoubleSide }));
    this.parts.push(made);
    this.scene.add(made);
    return made;
  }

  /** Show weights of shapes, by name. */
  setWeights(names: readonly string[], weights: ArrayLike<number>): void {
    if (!this.skin) return;
    const position = this.skin.geometry.getAttribute("position") as BufferAttribute;
    const out = position.array as Float32Array;
    out.set(this.neutral);
    const known = new Map(names.map((name, n) => [shapeKey(name), weights[n] ?? 0]));
    this.shapes.forEach((shape, s) => {
      const weight = known.get(shape) ?? 0;
      const from = s * out.length;
      if (weight) for (let k = 0; k < out.length; k += 1) out[k]! += weight * this.moves[from + k]!;
    });
    position.needsUpdate = true;
    this.skin.geometry.computeVertexNormals();
    this.dots.forEach((dot, n) => dot.position.fromArray(out, 3 * n));
    this.draw();
  }

  /** Landmarks that are asked for are amber. */
  mark(landmarks: readonly number[]): void {
    this.marked = new Set(landmarks);
    this.dots.forEach((dot, n) => (dot.material as MeshBasicMaterial).color.set(this.marked.has(n) ? AMBER : TEAL));
    this.draw();
  }

  /** Where a landmark is in the picture, pixels; for tests. */
  place(landmark: number): { x: number; y: number } {
    const at = this.dots[landmark]!.position.clone().project(this.camera);
    const box = this.canvas.getBoundingClientRect();
    return { x: box.x + ((at.x + 1) / 2) * box.width, y: box.y + ((1 - at.y) / 2) * box.height };
  }

  private ray(event: PointerEvent): Raycaster {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(((event.clientX - box.x) / box.width) * 2 - 1, 1 - ((event.clientY - box.y) / box.height) * 2);
    const ray = new Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  private grab(event: PointerEvent): void {
    const [hit] = this.ray(event).intersectObjects(this.dots);
    if (!hit || event.button !== 0) return;
    const away = this.camera.getWorldDirection(new Vector3());
    const plane = new Plane().setFromNormalAndCoplanarPoint(away, hit.object.position);
    this.held = { landmark: this.dots.indexOf(hit.object as Mesh), plane };
    this.orbit.enabled = false;
    this.canvas.setPointerCapture(event.pointerId);
  }

  private pull(event: PointerEvent, done: boolean): void {
    if (!this.held) return;
    const at = this.ray(event).ray.intersectPlane(this.held.plane, new Vector3());
    if (at) this.hooks.drag(this.held.landmark, [at.x, at.y, at.z], done);
    if (done) {
      this.held = null;
      this.orbit.enabled = true;
    }
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  draw(): void {
    this.renderer.render(this.scene, this.camera);
  }
}
