/** Constraints on the stage: arrows, spheres, posed ghosts and translucent solids, placed and moved by dragging. */

import { AMBER, RED, TEAL } from "../colours";
import type { ConstraintReport, ObstacleAsk, Problem, SolveAsk } from "../messages";
import type { ArrowOverlay, At, DragHooks, FloorTool, LineOverlay, LineStyle, Overlay, Place, Solid, SolidOverlay, SphereOverlay, Stage, TextOverlay } from "../types";
import { all, cm, degrees, isSame, pathOf, radians, said, type Where } from "./solverequest";
import type { PoseGhosts } from "./solveposes";

type Point = [number, number];
type Point3 = [number, number, number];
export type Mode = "arrow" | "joint" | "circle" | "box" | "polygon";
type Edit = (ask: SolveAsk) => void;

/** Metres below which a press is a click. */
const CLICK_M = 0.15;
const ARROW_M = 0.8;
const WALL_M = 1;

export interface SolveHooks {
  /** An arrow was put down; the heading in radians where one was drawn. */
  arrow(at: Point, heading: number | null): void;
  obstacle(shape: Partial<ObstacleAsk>, label: string): void;
  joint(name: string): void;
  change(label: string, edit: Edit, where: Where): void;
  remove(where: Where): void;
  select(where: Where): void;
  /** The tool has done its work. */
  done(): void;
}

/** What is drawn: a request, and how well the motion that is shown meets it. */
export interface Scene {
  ask: SolveAsk;
  chosen: Where | null;
  reports: ReadonlyMap<string, ConstraintReport>;
  problems: readonly Problem[];
  /** Ways of the candidates that are not shown. */
  ways: readonly Point[][];
}

export class SolveStage {
  private scene: Scene | null = null;
  private readonly pool = new Map<string, Overlay>();
  private touched = new Set<string>();
  private pending: { label: string; edit: Edit; where: Where } | null = null;
  private visible = false;
  private mode: Mode = "arrow";
  private corners: Point[] = [];

  constructor(
    private readonly stage: Stage,
    private readonly ghosts: PoseGhosts,
    private readonly hooks: SolveHooks,
  ) {
    // Before the floor's tool: a joint may be seen against the sky.
    stage.element.addEventListener("pointerdown", (event) => this.pick(event), { capture: true });
  }

  show(visible: boolean): void {
    this.visible = visible;
    this.stage.floor.setTool(visible ? this.tool() : null);
    this.draw();
  }

  setMode(mode: Mode): void {
    this.mode = mode;
    this.corners = [];
    this.draw();
  }

  set(scene: Scene): void {
    this.scene = scene;
    this.draw();
  }

  // -------------------------------------------------------------- drawing

  private draw(ask = this.scene?.ask): void {
    this.touched = new Set();
    if (this.visible && this.scene && ask) {
      for (const [k, way] of this.scene.ways.entries()) this.line(`way ${k}`, way, { colour: TEAL, width: 1.5, opacity: 0.4 });
      for (const where of all(ask)) this.constraint(ask, where);
      for (const problem of this.scene.problems) this.problem(ask, problem);
      if (this.corners.length > 0) this.line("corners", this.corners, { colour: AMBER, width: 2, dashed: true });
    }
    for (const [key, overlay] of this.pool) {
      if (this.touched.has(key)) continue;
      overlay.remove();
      this.pool.delete(key);
    }
  }

  private constraint(ask: SolveAsk, where: Where): void {
    const report = this.scene!.reports.get(where.kind === "obstacles" ? "obstacles" : pathOf(where));
    const colour = report?.met === false ? RED : AMBER;
    if (where.kind === "body") this.arrow(ask, where, colour);
    else if (where.kind === "joints") this.joint(ask, where, colour, report);
    else if (where.kind === "poses" || where.kind === "frames") this.pose(ask, where, colour);
    else if (where.kind === "obstacles") this.obstacle(ask, where, colour);
  }

  private arrow(ask: SolveAsk, where: Where, colour: string): void {
    const { position, facing_deg } = ask.body[where.index]!;
    const key = pathOf(where);
    const heading = radians(facing_deg ?? 0);
    const size = facing_deg === null ? 0.3 : ARROW_M;
    const style = { colour, length: size };
    this.take<ArrowOverlay>(key, () => this.stage.addArrow(position, heading, style), (arrow) => arrow.update(position, heading, style)).draggable(
      this.drag(where, "Move an arrow", (next, at) => (next.body[where.index]!.position = [cm(at.x), cm(at.z)]), "Drag to move; Delete removes"),
    );
    const tip: At = [position[0] + size * Math.sin(heading), 0.02, position[1] + size * Math.cos(heading)];
    if (facing_deg !== null) {
      this.sphere(`${key} tip`, tip, { colour, radius: 0.06 }).draggable(
        this.drag(where, "Turn an arrow", (next, at) => {
          const [x, z] = next.body[where.index]!.position;
          next.body[where.index]!.facing_deg = degrees(Math.atan2(at.x - x, at.z - z));
        }, "Drag to turn"),
      );
    }
    if (isSame(where, this.scene!.chosen)) this.text(`${key} name`, [position[0], 0.25, position[1]], said(ask, where), colour);
  }

  /** Where a joint's sphere is: coordinates that do not matter are those of the figure. */
  jointPlace(ask: SolveAsk, index: number): [number, number, number] {
    const { joint, position, at_s } = ask.joints[index]!;
    const here = this.figureJoint(joint, at_s) ?? { x: 0, y: 1.2, z: 0 };
    return [position[0] ?? here.x, position[1] ?? here.y, position[2] ?? here.z];
  }

  /** Where the motion on the stage has a joint at a time. */
  figureJoint(name: string, at_s: number): Place | null {
    const [motion] = this.stage.shown;
    // By name or by role: "LeftHand" or "left_hand".
    const plain = (text: string) => text.replace(/[^a-z]/gi, "").toLowerCase();
    const joint = motion?.joints.findIndex((known) => plain(known) === plain(name)) ?? -1;
    if (!motion || joint < 0) return null;
    return this.stage.jointAt(motion.id, joint, Math.min(Math.round(at_s * motion.fps), motion.frames - 1));
  }

  private joint(ask: SolveAsk, where: Where, colour: string, report: ConstraintReport | undefined): void {
    const key = pathOf(where);
    const place = this.jointPlace(ask, where.index);
    const { joint, at_s } = ask.joints[where.index]!;
    this.sphere(key, place, { colour, radius: 0.07 }).draggable({
      ...this.drag(where, "Move a target", (next, at) => {
        const [x, y, z] = this.jointPlace(this.scene!.ask, where.index);
        const wanted = next.joints[where.index]!.position;
        // Straight up and down leaves the other two as free as they were.
        if (Math.hypot(at.x - x, at.z - z) > 1e-6) [wanted[0], wanted[2]] = [cm(at.x), cm(at.z)];
        if (Math.abs(at.y - y) > 1e-6) wanted[1] = cm(at.y);
      }, `${joint}: drag along the floor, with Shift up and down`),
      kind: "space",
    });
    this.line(`${key} plumb`, [[place[0], 0, place[2]], place], { colour, width: 1, opacity: 0.6 });
    const here = report?.met === false ? this.figureJoint(joint, at_s) : null;
    if (here) this.line(`${key} gap`, [place, [here.x, here.y, here.z]], { colour: RED, width: 2, dashed: true });
    this.text(`${key} name`, [place[0], place[1] + 0.14, place[2]], report?.met === false ? `${joint}: ${report.text}` : joint, colour);
  }

  private pose(ask: SolveAsk, where: Where, colour: string): void {
    const wanted = where.kind === "poses" ? ask.poses[where.index]! : ask.frames[where.index]!;
    const arrow = ask.body.findIndex((one) => one.at_s === wanted.at_s);
    const hips = this.stage.shown[0]?.joints[0];
    const here = hips ? this.figureJoint(hips, wanted.at_s) : null;
    const at: Point = arrow >= 0 ? ask.body[arrow]!.position : here ? [here.x, here.z] : [0, 0];
    const facing = arrow >= 0 ? ask.body[arrow]!.facing_deg : null;
    const key = `${pathOf(where)} ${wanted.clip}`;
    const made = this.ghosts.place(wanted.clip, wanted.frame, at, facing === null ? null : radians(facing));
    if (!made) return;
    this.take(key, () => this.ghosts.add(wanted.clip, wanted.frame, made, colour), (ghost) => ghost.update(wanted.frame, made, { colour })).draggable(
      this.drag(where, "Place a pose", (next, to) => {
        // A pose is wanted somewhere by an arrow at its time.
        const [x, z] = [cm(at[0] + to.x - made.x), cm(at[1] + to.z - made.z)];
        const known = next.body.find((one) => one.at_s === wanted.at_s);
        if (known) known.position = [x, z];
        else next.body.push({ at_s: wanted.at_s, position: [x, z], facing_deg: null, weight: 1 });
      }, "Drag to say where; an arrow at its time goes with it"),
    );
    this.text(`${pathOf(where)} name`, [at[0], 1.95, at[1]], said(ask, where), colour);
  }

  private problem(ask: SolveAsk, { where, text, place, distance_m }: Problem): void {
    if (!place || !where) return;
    const found = /^(body|joints)\[(\d+)\]/.exec(where);
    const index = Number(found?.[2] ?? -1);
    const target: At | null = found?.[1] === "body" ? (ask.body[index]?.position ?? null) : found && ask.joints[index] ? this.jointPlace(ask, index) : null;
    // Of a joint, the nearest height: right below or above the target.
    const nearest: Point3 = target?.length === 3 ? [target[0], place[1], target[2]] : place;
    if (target) this.line(`problem ${where}`, [target, nearest], { colour: RED, width: 3, dashed: true });
    this.sphere(`nearest ${where}`, nearest, { colour: RED, radius: 0.05 }).draggable(null);
    const said = distance_m === null ? text : `${distance_m < 1 ? `${(100 * distance_m).toFixed(0)} cm` : `${distance_m.toFixed(1)} m`} out of reach`;
    this.text(`reach ${where}`, [nearest[0], nearest[1] - 0.15, nearest[2]], said, RED);
  }

  // -------------------------------------------------------------- obstacles

  private obstacle(ask: SolveAsk, where: Where, colour: string): void {
    const key = pathOf(where);
    const { circle, box, polygon } = ask.obstacles[where.index]!;
    const style = { colour, opacity: isSame(where, this.scene!.chosen) ? 0.5 : 0.35 };
    const move = (edit: (one: ObstacleAsk, dx: number, dz: number) => void, from: Point) =>
      this.drag(where, "Move an obstacle", (next, at) => edit(next.obstacles[where.index]!, cm(at.x - from[0]), cm(at.z - from[1])), "Drag to move; Delete removes");
    if (circle) {
      const [x, z] = circle.centre;
      this.solid(key, { kind: "cylinder", at: [x, z], radius: circle.radius, height: WALL_M }, style).draggable(
        move((one, dx, dz) => (one.circle!.centre = shifted([x, z], dx, dz)), [x, z]),
      );
      this.sphere(`${key} size`, [x + circle.radius, 0.05, z], { colour, radius: 0.06 }).draggable(
        this.drag(where, "Size an obstacle", (next, at) => (next.obstacles[where.index]!.circle!.radius = Math.max(0.05, cm(Math.hypot(at.x - x, at.z - z)))), "Drag to size"),
      );
    } else if (box) {
      const middle: Point = [(box.low[0] + box.high[0]) / 2, (box.low[1] + box.high[1]) / 2];
      this.solid(key, { kind: "box", at: middle, size: [box.high[0] - box.low[0], WALL_M, box.high[1] - box.low[1]] }, style).draggable(
        move((one, dx, dz) => (one.box = { low: shifted(box.low, dx, dz), high: shifted(box.high, dx, dz) }), middle),
      );
      for (const side of ["low", "high"] as const) {
        this.sphere(`${key} ${side}`, [box[side][0], 0.05, box[side][1]], { colour, radius: 0.06 }).draggable(
          this.drag(where, "Size an obstacle", (next, at) => (next.obstacles[where.index]!.box = resized(box, side, [cm(at.x), cm(at.z)])), "Drag to size"),
        );
      }
    } else if (polygon) this.polygon(where, polygon.corners, style, move);
  }

  /** Walls along the sides; pressing one moves the whole. */
  private polygon(where: Where, corners: Point[], style: { colour: string; opacity: number }, move: (edit: (one: ObstacleAsk, dx: number, dz: number) => void, from: Point) => DragHooks): void {
    corners.forEach(([x, z], k) => {
      const next = corners[(k + 1) % corners.length]!;
      const middle: Point = [(x + next[0]) / 2, (z + next[1]) / 2];
      const wall: Solid = { kind: "box", at: middle, size: [0.04, WALL_M, Math.hypot(next[0] - x, next[1] - z)], yaw: Math.atan2(next[0] - x, next[1] - z) };
      this.solid(`${pathOf(where)} wall ${k}`, wall, style).draggable(
        move((one, dx, dz) => (one.polygon = { corners: corners.map((corner) => shifted(corner, dx, dz)) }), middle),
      );
      this.sphere(`${pathOf(where)} corner ${k}`, [x, 0.05, z], { colour: style.colour, radius: 0.06 }).draggable(
        this.drag(where, "Move a corner", (ask, at) => (ask.obstacles[where.index]!.polygon!.corners[k] = [cm(at.x), cm(at.z)]), "Drag the corner"),
      );
    });
  }

  // -------------------------------------------------------------- tools

  private tool(): FloorTool {
    let from: Point | null = null;
    let to: Point = [0, 0];
    const clear = () => {
      from = null;
      this.draw();
    };
    return {
      cursor: "crosshair",
      down: ({ x, z, event }) => {
        if (event.button !== 0 || event.altKey || this.mode === "joint") return false;
        from = to = [x, z];
        this.sketch(from, to);
        return true;
      },
      move: ({ x, z }) => from && this.sketch(from, (to = [x, z])),
      up: () => {
        const begin = from;
        clear();
        if (begin) this.place(begin, to);
      },
      cancel: clear,
      doubleClick: () => this.mode === "polygon" && this.closePolygon(),
    };
  }

  /** Show what letting go here would put down. */
  private sketch(from: Point, to: Point): void {
    const away = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const heading = Math.atan2(to[0] - from[0], to[1] - from[1]);
    if (this.mode === "arrow") {
      const length = Math.max(ARROW_M, Math.min(away, 2));
      this.take<ArrowOverlay>("sketch", () => this.stage.addArrow(from, heading, { colour: AMBER, length }), (arrow) => arrow.update(from, heading, { length }));
    } else if (this.mode === "circle" || this.mode === "box") {
      const solid: Solid = this.mode === "circle" ? { kind: "cylinder", at: from, radius: Math.max(away, 0.05), height: WALL_M } : { kind: "box", at: [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2], size: [Math.abs(to[0] - from[0]) + 0.01, WALL_M, Math.abs(to[1] - from[1]) + 0.01] };
      this.solid(`sketch ${this.mode}`, solid, { colour: AMBER, opacity: 0.5 });
    }
  }

  private place(from: Point, to: Point): void {
    const away = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const at = shifted(from, 0, 0);
    if (this.mode === "arrow") return this.hooks.arrow(at, away < CLICK_M ? null : Math.atan2(to[0] - from[0], to[1] - from[1]));
    if (this.mode === "polygon") {
      const [first] = this.corners;
      if (first && this.corners.length > 2 && Math.hypot(at[0] - first[0], at[1] - first[1]) < 2 * CLICK_M) return this.closePolygon();
      const last = this.corners.at(-1);
      if (!last || Math.hypot(at[0] - last[0], at[1] - last[1]) > 0.02) this.corners.push(at);
      return this.draw();
    }
    const size = away < CLICK_M ? 0.5 : away;
    if (this.mode === "circle") this.hooks.obstacle({ circle: { centre: at, radius: cm(size) } }, "Add a round obstacle");
    else if (away < CLICK_M) this.hooks.obstacle({ box: { low: shifted(at, -0.5, -0.5), high: shifted(at, 0.5, 0.5) } }, "Add a box");
    else this.hooks.obstacle({ box: resized({ low: at, high: at }, "high", [cm(to[0]), cm(to[1])]) }, "Add a box");
    this.hooks.done();
  }

  private closePolygon(): void {
    const corners = this.corners;
    this.corners = [];
    if (corners.length > 2) this.hooks.obstacle({ polygon: { corners } }, "Add a polygon");
    this.hooks.done();
  }

  private pick(event: PointerEvent): void {
    if (!this.visible || this.mode !== "joint" || event.button !== 0) return;
    const found = this.stage.pickJoint(event);
    if (!found) return;
    event.stopPropagation();
    this.hooks.joint(found.name);
    this.hooks.done();
  }

  // -------------------------------------------------------------- overlays that stay

  /** What is drawn under a key: there already, or new. What was pressed last keeps hearing keys. */
  private take<T extends Overlay>(key: string, make: () => T, update: (known: T) => void): T {
    this.touched.add(key);
    const known = this.pool.get(key) as T | undefined;
    if (known) {
      update(known);
      return known;
    }
    const made = make();
    this.pool.set(key, made);
    return made;
  }

  private sphere(key: string, at: At, style: { colour: string; radius: number }): SphereOverlay {
    return this.take<SphereOverlay>(key, () => this.stage.addSphere(at, style), (sphere) => sphere.update(at, style));
  }

  private line(key: string, points: readonly At[], style: Partial<LineStyle>): LineOverlay {
    return this.take<LineOverlay>(key, () => this.stage.addLine(points, style), (line) => line.update(points, style));
  }

  private solid(key: string, solid: Solid, style: { colour: string; opacity: number }): SolidOverlay {
    return this.take<SolidOverlay>(key, () => this.stage.addSolid(solid, style), (known) => known.update(solid, style));
  }

  private text(key: string, at: At, text: string, colour: string): TextOverlay {
    return this.take<TextOverlay>(key, () => this.stage.addText(at, text, colour), (known) => known.update(at, text, colour));
  }

  /** Dragging shows the change while it lasts, and makes it when it ends. */
  private drag(where: Where, label: string, edit: (ask: SolveAsk, at: Place) => void, title: string): DragHooks {
    return {
      label: title,
      move: (at) => {
        const place = { ...at };
        this.pending = { label, where, edit: (ask) => edit(ask, place) };
        const draft = structuredClone(this.scene!.ask);
        this.pending.edit(draft);
        this.draw(draft);
      },
      end: () => {
        const done = this.pending;
        this.pending = null;
        if (done) this.hooks.change(done.label, done.edit, done.where);
      },
      click: () => this.hooks.select(where),
      remove: () => this.hooks.remove(where),
    };
  }
}

const shifted = ([x, z]: Point, dx: number, dz: number): Point => [cm(x + dx), cm(z + dz)];

/** A box with one corner moved; its corners stay the least and the greatest. */
function resized(box: { low: Point; high: Point }, side: "low" | "high", to: Point): { low: Point; high: Point } {
  const other = side === "low" ? box.high : box.low;
  const low: Point = [Math.min(to[0], other[0]), Math.min(to[1], other[1])];
  const high: Point = [Math.max(to[0], other[0], low[0] + 0.05), Math.max(to[1], other[1], low[1] + 0.05)];
  return { low: [cm(low[0]), cm(low[1])], high: [cm(high[0]), cm(high[1])] };
}
