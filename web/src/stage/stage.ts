/** The stage: figures that move, the floor, the light, and everything that is drawn beside them. */

import {
  ACESFilmicToneMapping,
  Color,
  Fog,
  PCFShadowMap,
  Scene,
  Vector3,
  WebGLRenderer,
} from "three";
import { AMBER, ownerOf, shownColour, TEAL } from "../colours";
import { el } from "../dom";
import type { Motion } from "../messages";
import type {
  ArrowOverlay,
  At,
  Cost,
  DotsOverlay,
  Floor,
  GhostOverlay,
  HeatOverlay,
  LineOverlay,
  LineStyle,
  LiveOverlay,
  MotionSource,
  Place,
  ShowOptions,
  Solid,
  SolidOverlay,
  SphereOverlay,
  Stage,
  StageView,
  TextOverlay,
  VectorOverlay,
} from "../types";
import { Actors, type Part } from "./actors";
import { OrbitCamera } from "./camera";
import { Compass } from "./compass";
import { Casting, played } from "./casting";
import { FloorMesh } from "./floor";
import { DrawnDots } from "./dots";
import { DrawnGhost } from "./ghosts";
import { DrawnHeat, DrawnLive } from "./live";
import { nearestJoint } from "./hover";
import { Labels } from "./labels";
import { Lights } from "./lights";
import { DrawnArrow, DrawnLine, DrawnSolid, DrawnSphere, DrawnText, OverlayLayer } from "./overlays";
import { Clock } from "./player";
import { Pointer } from "./pointer";
import { STAGE_THEMES } from "./theme";
import { joined } from "./track";
import { DrawnVector } from "./vectors";

/** Drawn frames that `cost` looks back on. */
const COSTS = 120;

export interface StageOptions {
  /** The camera was moved away from the figure it followed. */
  onLeave?: () => void;
  /** Something could not be shown as it was to be; a sentence. */
  onTrouble?: (message: string) => void;
}

export class WebStage implements Stage {
  readonly element: HTMLElement;
  readonly player = new Clock();
  readonly camera = new OrbitCamera();
  readonly floor: Floor;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly casting: Casting;
  private readonly ground: FloorMesh;
  private readonly actors = new Actors();
  private readonly lights = new Lights();
  private readonly labels = new Labels();
  private readonly compass = new Compass();
  private readonly layer: OverlayLayer;
  private readonly pointer: Pointer;
  private readonly joint = el("div", { class: "joint-name", hidden: true });
  private readonly costs = new Float32Array(COSTS);
  private readonly observer: ResizeObserver;
  private drawn = 0;
  private view: StageView = { theme: "dark", ghosts: false, ghost_every: 20, paths: true, contacts: true, follow_camera: true };
  private beside = false;
  private dirty = true;
  private jump = true;
  private last = 0;
  private asked = 0;
  wanted: readonly string[] = [];
  loaded: Promise<void> = Promise.resolve();
  private streaming: { number: number; rows: Float32Array; worn: Float32Array } | null = null;
  private size = { width: 1, height: 1 };

  constructor(
    parent: HTMLElement,
    source: MotionSource,
    options: StageOptions = {},
  ) {
    this.renderer = new WebGLRenderer({ antialias: true, powerPreference: "high-performance" });
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 0.95;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    const canvas = this.renderer.domElement;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", "Stage: the figure, the floor and what is drawn on it");
    this.element = el("div", { class: "stage" }, canvas, this.labels.element, this.joint, this.compass.element);
    parent.append(this.element);

    const redraw = () => (this.dirty = true);
    this.casting = new Casting(source, (message) => options.onTrouble?.(message));
    this.ground = new FloorMesh(STAGE_THEMES.dark);
    this.layer = new OverlayLayer(redraw, this.labels);
    this.pointer = new Pointer(canvas, this.camera, this.layer, redraw);
    this.pointer.onHover = (event) => this.nameJoint(event);
    this.pointer.onEdit = () => (this.camera.held = true);
    this.camera.onLeave = options.onLeave ?? (() => undefined);
    this.camera.heading = () => this.actors.lead?.track.heading(this.player.frame) ?? 0;
    this.floor = {
      setTool: (tool) => {
        this.pointer.tool = tool;
        canvas.style.cursor = tool?.cursor ?? "default";
      },
      under: (event) => this.pointer.level(event),
    };
    this.scene.add(this.actors.object, this.ground.object, this.layer.object, this.lights.object);
    this.setView(this.view);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.resize(); // now, and not when the observer first tells: the camera may be framed before that
    this.renderer.setAnimationLoop((now) => this.tick(now));
  }

  get shown(): readonly Motion[] {
    return Array.from(this.actors, (actor) => actor.track.motion);
  }

  get sideBySide(): boolean {
    return this.beside;
  }
  set sideBySide(beside: boolean) {
    this.beside = beside;
    this.arrange();
  }

  // -------------------------------------------------------------- motions

  show(motions: readonly string[], options: ShowOptions = {}): Promise<void> {
    return (this.loaded = this.change(motions, options));
  }

  private async change(motions: readonly string[], options: ShowOptions): Promise<void> {
    const turn = ++this.asked;
    const again = String(motions) === String(this.wanted);
    this.wanted = [...motions];
    // Parts of a motion that are still on their way must not take the place of what is asked for now.
    const streamed = this.streaming !== null;
    this.streaming = null;
    const loaded = await Promise.all(motions.map((id) => this.casting.body(id)));
    if (turn !== this.asked) return; // something newer was asked for meanwhile
    const from = options.from ?? (again || streamed ? "same" : 0);
    const owners = [...new Set(motions.map(ownerOf))];
    // Beside each other, all of one result look alike and unlike the next; alone, people are told apart.
    const number = (k: number) => (owners.length > 1 ? owners.indexOf(ownerOf(motions[k]!)) : k);
    this.replace(
      loaded.flatMap((played, k) => played === null ? [] : [{
        ...played,
        id: motions[k]!,
        colour: options.colours?.[k] ?? ownColour(played.track.motion, number(k)),
        tint: owners.length > 1 && options.tinted !== false ? pale(shownColour(number(k))) : CLAY,
      }]),
      from === "same" ? this.player.frame / this.player.fps : from,
      from === "same",
    );
  }

  stream(number: number, motion: Motion, start: number, frames: Float32Array, worth = motion.fps): void {
    if (this.streaming && number < this.streaming.number) return;
    if (this.streaming?.number !== number) this.streaming = { number, rows: EMPTY, worn: EMPTY };
    const now = this.streaming;
    void this.casting.live(motion.skeleton).then((body) => {
      if (this.streaming !== now) return;
      const width = 3 + 4 * motion.joints.length;
      if (now.rows.length < start * width) return; // what came before it is missing
      const first = now.rows.length === 0;
      now.rows = joined(now.rows.subarray(0, start * width), frames);
      const wearing = body.worn?.wearing;
      if (wearing) now.worn = joined(now.worn.subarray(0, start * wearing.width), wearing.rows(frames));
      const whole = { ...motion, frames: Math.max(motion.frames, now.rows.length / width) };
      if (now.rows.length / width < Math.min(worth, motion.frames)) return; // not yet worth watching
      this.asked++; // what is still being loaded is older than this
      this.wanted = [];
      const seconds = first || !this.actors.named(STREAM) ? 0 : this.player.frame / this.player.fps;
      this.replace([{ id: STREAM, ...played(body, whole, now.rows, now.worn), colour: TEAL, tint: CLAY }], seconds, true);
    });
  }

  preview(motion: Motion, rows: Float32Array): void {
    const turn = this.asked;
    void this.casting.live(motion.skeleton).then((body) => {
      if (turn !== this.asked) return; // motions were shown anew meanwhile
      const actor = this.actors.lead;
      const now = played(body, motion, rows, body.worn?.wearing.rows(rows) ?? EMPTY);
      if (actor?.template === now.template) {
        this.actors.swap(actor, now);
        const { frames, fps } = actor.track.motion;
        this.player.load(frames, fps, Math.min(this.player.frame, frames - 1));
        this.dress();
      } else this.replace([{ id: STREAM, ...now, colour: TEAL, tint: CLAY }], this.player.frame / this.player.fps, true);
    });
  }

  row(frame: number): Float32Array | null {
    const track = this.actors.lead?.track;
    if (!track) return null;
    const at = Math.min(Math.max(Math.round(frame), 0), track.available - 1) * track.width;
    return track.data.slice(at, at + track.width);
  }

  onScreen({ x, y, z }: Place): { x: number; y: number } {
    const seen = new Vector3(x, y, z).project(this.camera.lens);
    const box = this.renderer.domElement.getBoundingClientRect();
    return { x: box.left + ((seen.x + 1) / 2) * box.width, y: box.top + ((1 - seen.y) / 2) * box.height };
  }

  facing(event: PointerEvent, through: Place): Place | null {
    return this.pointer.facing(event, through);
  }

  private replace(parts: readonly Part[], from: number, seconds: boolean): void {
    this.actors.replace(parts);
    const lead = this.actors.lead?.track;
    if (lead) {
      const { frames, fps } = lead.motion;
      const frame = seconds ? Math.min(from * fps, frames - 1) : from;
      this.player.load(frames, fps, frame, Math.min(lead.available, frames));
    } else this.player.load(1, 30, 0);
    this.arrange();
    this.dress();
  }

  private arrange(): void {
    this.actors.arrange(this.beside);
    this.jump = true;
    this.dirty = true;
  }

  jointAt(motion: string, joint: number, frame: number): Place | null {
    const actor = this.actors.named(motion);
    return actor && joint < actor.track.motion.joints.length ? actor.track.joint(joint, frame) : null;
  }

  async joints(motion: string): Promise<(joint: number, frame: number) => Place> {
    const { track } = await this.casting.played(motion);
    return (joint, frame) => track.joint(joint, frame);
  }

  pickJoint(event: PointerEvent): { motion: string; joint: number; name: string } | null {
    const shown = [...this.actors];
    const found = nearestJoint(shown.map((actor) => actor.figure), this.pointer.probe(event));
    if (!found) return null;
    const { id, track } = shown[found.figure]!;
    return { motion: id, joint: found.joint, name: track.motion.joints[found.joint]! };
  }

  // -------------------------------------------------------------- overlays

  addLine(points: readonly At[], style?: Partial<LineStyle>): LineOverlay {
    return new DrawnLine(this.layer, points, style);
  }

  addArrow(at: At, heading: number, style?: { colour?: string; length?: number }): ArrowOverlay {
    return new DrawnArrow(this.layer, at, heading, style);
  }

  addSphere(at: At, style?: { colour?: string; radius?: number; label?: string }): SphereOverlay {
    return new DrawnSphere(this.layer, at, style);
  }

  addSolid(solid: Solid, style?: { colour?: string; opacity?: number }): SolidOverlay {
    return new DrawnSolid(this.layer, solid, style);
  }

  addGhost(motion: string, frame: number, style?: { colour?: string }): GhostOverlay {
    return new DrawnGhost(this.layer, this.casting.played(motion), frame, style);
  }

  addText(at: At, text: string, colour?: string): TextOverlay {
    return new DrawnText(this.layer, at, text, colour);
  }

  addLive(skeleton: string, colour?: string, opacity?: number): LiveOverlay {
    return new DrawnLive(this.layer, this.casting.live(skeleton), colour, opacity);
  }

  addHeat(): HeatOverlay {
    return new DrawnHeat(this.layer);
  }

  addDots(at: readonly At[], colour?: string): DotsOverlay {
    return new DrawnDots(this.layer, at, colour);
  }

  addVector(): VectorOverlay {
    return new DrawnVector(this.layer);
  }

  colourBones(motion: string, values: ArrayLike<number> | null): void {
    this.actors.named(motion)?.figure.heat(values);
    this.dirty = true;
  }

  // -------------------------------------------------------------- looks

  setView(view: Partial<StageView>): void {
    const before = this.view;
    this.view = { ...before, ...view };
    const theme = STAGE_THEMES[this.view.theme];
    this.scene.background = new Color(theme.background);
    this.scene.fog = new Fog(theme.background, 18, 90);
    this.ground.setTheme(theme);
    this.lights.setTheme(theme);
    // Whoever asks it to follow wants it with the figure again.
    if (this.view.follow_camera && !before.follow_camera) this.camera.held = false;
    this.camera.follow = this.view.follow_camera;
    this.dress();
  }

  private dress(): void {
    this.actors.dress(this.view);
    this.dirty = true;
  }

  private nameJoint(event: PointerEvent | null): void {
    const found = event && event.pointerType !== "touch" ? this.pickJoint(event) : null;
    this.joint.hidden = found === null;
    if (!found || !event) return;
    const box = this.element.getBoundingClientRect();
    this.joint.textContent = found.name;
    this.joint.style.transform = `translate(${event.clientX - box.left + 14}px, ${event.clientY - box.top + 10}px)`;
  }

  // -------------------------------------------------------------- drawing

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0 || height === 0) return;
    this.size = { width, height };
    this.renderer.setSize(width, height);
    this.camera.resize(width, height);
    this.draw();
  }

  private tick(now: number): void {
    const begun = performance.now();
    const seconds = Math.min(Math.max(now - this.last, 0) / 1000, 0.25);
    this.last = now;
    const moved = this.player.tick(seconds);
    this.player.flush();
    if (moved || this.dirty) this.actors.pose(this.player.frame, this.player.frame / this.player.fps);
    this.followActors(seconds);
    this.camera.update(seconds);
    if (!moved && !this.dirty && !this.camera.changed) return;
    this.draw();
    this.costs[this.drawn++ % COSTS] = performance.now() - begun;
  }

  /** Camera and light go with the figures. */
  private followActors(seconds: number): void {
    if (!this.actors.lead) return;
    const spread = this.actors.spread(MIDDLE);
    if (!this.pointer.busy) {
      this.camera.track(MIDDLE.x, MIDDLE.z, seconds, this.jump);
      this.jump = false;
    }
    this.lights.follow(MIDDLE, spread);
  }

  private draw(): void {
    this.ground.light(this.camera.target, 9 + 1.6 * this.camera.distance);
    this.renderer.render(this.scene, this.camera.lens);
    this.labels.update(this.camera.lens, this.size.width, this.size.height);
    this.compass.update(this.camera.lens, this.camera.distance, this.size.height);
    this.dirty = false;
    this.camera.changed = false;
  }

  cost(): Cost {
    const costs = this.costs.slice(0, Math.min(this.drawn, COSTS)).sort();
    const sum = costs.reduce((total, one) => total + one, 0);
    return { mean: sum / Math.max(costs.length, 1), p95: costs[Math.floor(0.95 * costs.length)] ?? 0, frames: this.drawn };
  }

  picture(): Promise<Blob> {
    this.renderer.render(this.scene, this.camera.lens); // in the same task, while the buffer still has it
    return new Promise((resolve, reject) => {
      this.renderer.domElement.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))));
    });
  }

  dispose(): void {
    this.renderer.setAnimationLoop(null);
    this.observer.disconnect();
    this.actors.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss(); // browsers allow few, and collect them late
    this.element.remove();
  }
}

/** Of its path: amber for whom the user let lead, teal for the first of the others. */
function ownColour(motion: Motion, number: number): string {
  if (motion.leads) return AMBER;
  return shownColour(number);
}

/** A colour as light falls through it: the figure's own shading stays. */
const pale = (colour: string): string => `#${new Color(colour).lerp(new Color(CLAY), 0.35).getHexString()}`;

/** Name of the motion that is still arriving. */
const STREAM = "stream";
const CLAY = "#ffffff";
const EMPTY = new Float32Array(0);
const MIDDLE = new Vector3();
