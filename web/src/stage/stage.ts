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
import { OrbitCamera } from "./camera";
import { Compass } from "./compass";
import { Casting, played, type Played } from "./casting";
import { Figure } from "./figure";
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
import { joined, resampled } from "./track";
import { Trail } from "./trails";
import { DrawnVector } from "./vectors";

const SIDE_BY_SIDE_M = 1.6;
/** Drawn frames that `cost` looks back on. */
const COSTS = 120;

/** One who moves. */
interface Actor extends Played {
  id: string;
  figure: Figure;
  trail: Trail;
  colour: string;
  /** What its figure is seen through. */
  tint: string;
  /** The character who is seen instead, moved by frames of its own. */
  character: Figure | null;
}

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
  private readonly lights = new Lights();
  private readonly labels = new Labels();
  private readonly compass = new Compass();
  private readonly layer: OverlayLayer;
  private readonly pointer: Pointer;
  private readonly joint = el("div", { class: "joint-name", hidden: true });
  private readonly costs = new Float32Array(COSTS);
  private readonly observer: ResizeObserver;
  private drawn = 0;
  private actors: Actor[] = [];
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
    this.camera.heading = () => this.actors[0]?.track.heading(this.player.frame) ?? 0;
    this.floor = {
      setTool: (tool) => {
        this.pointer.tool = tool;
        canvas.style.cursor = tool?.cursor ?? "default";
      },
      under: (event) => this.pointer.level(event),
    };
    this.scene.add(this.ground.object, this.layer.object, this.lights.object);
    this.setView(this.view);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.resize(); // now, and not when the observer first tells: the camera may be framed before that
    this.renderer.setAnimationLoop((now) => this.tick(now));
  }

  get shown(): readonly Motion[] {
    return this.actors.map((actor) => actor.track.motion);
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
    const loaded = await Promise.all(motions.map((id) => this.casting.played(id)));
    if (turn !== this.asked) return; // something newer was asked for meanwhile
    const from = options.from ?? (again || streamed ? "same" : 0);
    const owners = [...new Set(motions.map(ownerOf))];
    // Beside each other, all of one result look alike and unlike the next; alone, people are told apart.
    const number = (k: number) => (owners.length > 1 ? owners.indexOf(ownerOf(motions[k]!)) : k);
    this.replace(
      loaded.map(({ track, template, worn }, k) => ({
        id: motions[k]!,
        track,
        template,
        worn,
        colour: options.colours?.[k] ?? ownColour(track.motion, number(k)),
        tint: owners.length > 1 && options.tinted !== false ? pale(shownColour(number(k))) : CLAY,
      })),
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
      const seconds = first || !this.actors.some((actor) => actor.id === STREAM) ? 0 : this.player.frame / this.player.fps;
      this.replace([{ id: STREAM, ...played(body, whole, now.rows, now.worn), colour: TEAL, tint: CLAY }], seconds, true);
    });
  }

  preview(motion: Motion, frames: Float32Array): void {
    const turn = this.asked;
    void this.casting.live(motion.skeleton).then((body) => {
      if (turn !== this.asked) return; // motions were shown anew meanwhile
      const [actor] = this.actors;
      const now = played(body, motion, frames, body.worn?.wearing.rows(frames) ?? EMPTY);
      if (actor?.template === now.template) this.swap(actor, now);
      else this.replace([{ id: STREAM, ...now, colour: TEAL, tint: CLAY }], this.player.frame / this.player.fps, true);
    });
  }

  /** Other frames for who is on the stage, at their own rate and by their own name: markers and strips stay where they are. */
  private swap(actor: Actor, { track, worn }: Played): void {
    const { fps } = actor.track.motion;
    const whole = { ...actor.track.motion, frames: Math.round(((track.motion.frames - 1) * fps) / track.motion.fps) + 1 };
    actor.track = resampled(track, whole);
    if (worn && actor.worn) actor.worn.track = resampled(worn.track, { ...actor.worn.track.motion, frames: whole.frames, fps });
    else {
      actor.character?.dispose();
      actor.character = actor.worn = null;
      actor.figure.drawn = true;
    }
    actor.trail.dispose();
    actor.trail = new Trail(actor.worn?.track ?? actor.track, actor.worn?.template ?? actor.template, actor.colour);
    this.scene.add(actor.trail.object);
    actor.trail.object.position.copy(actor.figure.object.position);
    actor.trail.dress(this.view, STAGE_THEMES[this.view.theme]);
    this.player.load(whole.frames, fps, Math.min(this.player.frame, whole.frames - 1));
    this.dirty = true;
  }

  row(frame: number): Float32Array | null {
    const track = this.actors[0]?.track;
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

  private replace(cast: Omit<Actor, "figure" | "trail" | "character">[], from: number, seconds: boolean): void {
    const free = [...this.actors];
    for (const actor of this.actors) {
      actor.trail.dispose();
      actor.character?.dispose();
    }
    this.actors = cast.map((member) => {
      const again = free.findIndex((actor) => actor.template === member.template);
      const figure = again >= 0 ? free.splice(again, 1)[0]!.figure : new Figure(member.template);
      const { track, template } = member.worn ?? member; // the way is that of whoever is seen
      const trail = new Trail(track, template, member.colour);
      figure.heat(null);
      figure.tint(member.track.motion.leads ? LEADER : member.tint);
      this.scene.add(figure.object, trail.object);
      const character = member.worn && new Figure(member.worn.template);
      if (character) this.scene.add(character.object);
      figure.drawn = !character;
      return { ...member, figure, trail, character };
    });
    for (const actor of free) actor.figure.dispose();
    const lead = this.actors[0]?.track;
    if (lead) {
      const { frames, fps } = lead.motion;
      const frame = seconds ? Math.min(from * fps, frames - 1) : from;
      this.player.load(frames, fps, frame, Math.min(lead.available, frames));
    } else this.player.load(1, 30, 0);
    this.jump ||= !seconds;
    this.arrange();
    this.dress();
  }

  private arrange(): void {
    this.actors.forEach(({ track, figure, trail, character }, k) => {
      const start = track.root(0, WORK);
      const [x, z] = this.beside ? [SIDE_BY_SIDE_M * (k - (this.actors.length - 1) / 2) - start.x, -start.z] : [0, 0];
      figure.object.position.set(x, 0, z);
      character?.object.position.set(x, 0, z);
      trail.object.position.set(x, 0, z);
    });
    this.jump = true;
    this.dirty = true;
  }

  jointAt(motion: string, joint: number, frame: number): Place | null {
    const actor = this.actors.find((one) => one.id === motion);
    return actor && joint < actor.track.motion.joints.length ? actor.track.joint(joint, frame) : null;
  }

  async joints(motion: string): Promise<(joint: number, frame: number) => Place> {
    const { track } = await this.casting.played(motion);
    return (joint, frame) => track.joint(joint, frame);
  }

  pickJoint(event: PointerEvent): { motion: string; joint: number; name: string } | null {
    const found = nearestJoint(this.actors.map((actor) => actor.figure), this.pointer.probe(event));
    if (!found) return null;
    const { id, track } = this.actors[found.figure]!;
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
    this.actors.find((actor) => actor.id === motion)?.figure.heat(values);
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
    for (const { trail } of this.actors) trail.dress(this.view, STAGE_THEMES[this.view.theme]);
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
    if (moved || this.dirty) this.pose();
    this.followActors(seconds);
    this.camera.update(seconds);
    if (!moved && !this.dirty && !this.camera.changed) return;
    this.draw();
    this.costs[this.drawn++ % COSTS] = performance.now() - begun;
  }

  private pose(): void {
    const time = this.player.frame / this.player.fps;
    for (const { track, figure, trail, worn, character } of this.actors) {
      const frame = track === this.actors[0]!.track ? this.player.frame : time * track.motion.fps;
      track.pose(figure.bones, frame);
      if (worn && character) worn.track.pose(character.bones, frame);
      trail.update(frame);
    }
  }

  /** Camera and light go with the figures. */
  private followActors(seconds: number): void {
    if (this.actors.length === 0) return;
    const middle = MIDDLE.set(0, 0, 0);
    for (const { figure, character } of this.actors) {
      const { bones, object } = character ?? figure;
      middle.add(WORK.copy(bones[0]!.position).add(object.position));
    }
    middle.divideScalar(this.actors.length);
    if (!this.pointer.busy) {
      this.camera.track(middle.x, middle.z, seconds, this.jump);
      this.jump = false;
    }
    let spread = 0;
    for (const { figure } of this.actors) {
      const at = WORK.copy(figure.bones[0]!.position).add(figure.object.position);
      spread = Math.max(spread, Math.abs(at.x - middle.x), Math.abs(at.z - middle.z));
    }
    this.lights.follow(middle, spread);
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
    for (const actor of this.actors) {
      actor.trail.dispose();
      actor.figure.dispose();
    }
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
/** What a figure's own colours are seen through: amber light on whoever leads. */
const LEADER = "#ffcf87";
const CLAY = "#ffffff";
const EMPTY = new Float32Array(0);
const MIDDLE = new Vector3();
const WORK = new Vector3();
