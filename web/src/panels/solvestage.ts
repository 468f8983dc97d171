/** Constraints on the stage: arrows, spheres, posed ghosts and translucent solids, placed and moved by dragging. */

import { AMBER, RED, TEAL } from "../colours";
import type { At, DragHooks, Place, Stage } from "../types";
import { drawObstacle, type Point } from "./solveobstacles";
import { Pool } from "./solvepool";
import type { PoseGhosts } from "./solveposes";
import { type Report, reportOn } from "./solvereports";
import { all, cm, degrees, isSame, pathOf, radians, said, type SolveDraft, type Where } from "./solverequest";
import { ARROW_M, SolveTools, type Mode, type ToolHooks } from "./solvetools";

type Place3 = [number, number, number];
type Edit = (ask: SolveDraft) => void;

export interface SolveHooks extends Omit<ToolHooks, "sketched"> {
  joint(name: string): void;
  change(label: string, edit: Edit, where: Where): void;
  /** What the request would be if the drag ended here. */
  tryOut(draft: SolveDraft): void;
  remove(where: Where): void;
  select(where: Where): void;
}

/** What is drawn: a request, and how well the motion that is shown meets it. */
export interface Scene {
  ask: SolveDraft;
  chosen: Where | null;
  reports: ReadonlyMap<string, Report>;
  /** Ways of the candidates that are not shown. */
  ways: readonly Point[][];
}

export class SolveStage {
  private scene: Scene | null = null;
  private readonly pool: Pool;
  private readonly tools: SolveTools;
  private pending: { label: string; edit: Edit; where: Where } | null = null;
  private visible = false;

  constructor(
    private readonly stage: Stage,
    private readonly ghosts: PoseGhosts,
    private readonly hooks: SolveHooks,
  ) {
    this.pool = new Pool(stage);
    this.tools = new SolveTools(this.pool, {
      arrow: (at, heading) => hooks.arrow(at, heading),
      obstacle: (shape, label) => hooks.obstacle(shape, label),
      sketched: () => this.draw(),
      done: () => hooks.done(),
    });
    // Before the floor's tool: a joint may be seen against the sky.
    stage.element.addEventListener("pointerdown", (event) => this.pick(event), { capture: true });
  }

  show(visible: boolean): void {
    this.visible = visible;
    this.stage.floor.setTool(visible ? this.tools.tool() : null);
    this.draw();
  }

  setMode(mode: Mode): void {
    this.tools.mode = mode;
    this.tools.corners = [];
    this.draw();
  }

  set(scene: Scene): void {
    this.scene = scene;
    if (!this.pending) this.draw(); // what is being dragged stays in the hand
  }

  private pick(event: PointerEvent): void {
    if (!this.visible || this.tools.mode !== "joint" || event.button !== 0) return;
    const found = this.stage.pickJoint(event);
    if (!found) return;
    event.stopPropagation();
    this.hooks.joint(found.name);
    this.hooks.done();
  }

  // -------------------------------------------------------------- drawing

  private draw(ask = this.scene?.ask): void {
    this.pool.redraw(() => {
      if (!this.visible || !this.scene || !ask) return;
      for (const [k, way] of this.scene.ways.entries()) {
        this.pool.line(`way ${k}`, way, { colour: TEAL, width: 1.5, opacity: 0.4 });
      }
      for (const where of all(ask)) this.constraint(ask, where);
      const { corners } = this.tools;
      if (corners.length > 0) this.pool.sphere("first corner", corners[0]!, { colour: AMBER, radius: 0.06 });
      if (corners.length > 1) this.pool.line("corners", corners, { colour: AMBER, width: 2, dashed: true });
    });
  }

  private constraint(ask: SolveDraft, where: Where): void {
    const { reports, chosen } = this.scene!;
    const report = reportOn(reports, where);
    if (report && !report.met) this.problem(ask, where, report);
    const colour = report?.met === false ? RED : AMBER;
    if (where.kind === "body") this.arrow(ask, where, colour);
    else if (where.kind === "joints") this.joint(ask, where, colour, report);
    else if (where.kind === "poses" || where.kind === "frames") this.pose(ask, where, colour);
    else if (where.kind === "obstacles") {
      const style = { colour, opacity: isSame(where, chosen) ? 0.5 : 0.35 };
      drawObstacle(this.pool, ask.obstacles[where.index]!, where, style, (...how) => this.drag(...how));
    }
  }

  private arrow(ask: SolveDraft, where: Where, colour: string): void {
    const { position, facing_deg = null } = ask.body[where.index]!;
    const key = pathOf(where);
    const heading = radians(facing_deg ?? 0);
    const length = facing_deg === null ? 0.3 : ARROW_M;
    const move = (next: SolveDraft, at: Place) => (next.body[where.index]!.position = [cm(at.x), cm(at.z)]);
    this.pool
      .arrow(key, position, heading, { colour, length })
      .draggable(this.drag(where, "Move an arrow", move, "Drag to move; Delete removes"));
    if (facing_deg !== null) {
      const turn = (next: SolveDraft, at: Place) => {
        const [x, z] = next.body[where.index]!.position;
        next.body[where.index]!.facing_deg = degrees(Math.atan2(at.x - x, at.z - z));
      };
      const tip: At = [position[0] + length * Math.sin(heading), 0.02, position[1] + length * Math.cos(heading)];
      this.pool
        .sphere(`${key} tip`, tip, { colour, radius: 0.06 })
        .draggable(this.drag(where, "Turn an arrow", turn, "Drag to turn"));
    }
    if (isSame(where, this.scene!.chosen)) {
      this.pool.text(`${key} name`, [position[0], 0.25, position[1]], said(ask, where), colour);
    }
  }

  /** Where a joint's sphere is: coordinates that do not matter are those of the figure. */
  private jointPlace(ask: SolveDraft, index: number): Place3 {
    const { joint, position = [null, null, null], at_s } = ask.joints[index]!;
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

  private joint(ask: SolveDraft, where: Where, colour: string, report: Report | null): void {
    const key = pathOf(where);
    const place = this.jointPlace(ask, where.index);
    const { joint, at_s } = ask.joints[where.index]!;
    const move = (next: SolveDraft, at: Place) => {
      const [x, y, z] = this.jointPlace(this.scene!.ask, where.index);
      const wanted = (next.joints[where.index]!.position ??= [null, null, null]);
      // Straight up and down leaves the other two as free as they were.
      if (Math.hypot(at.x - x, at.z - z) > 1e-6) [wanted[0], wanted[2]] = [cm(at.x), cm(at.z)];
      if (Math.abs(at.y - y) > 1e-6) wanted[1] = cm(at.y);
    };
    const hint = `${joint}: drag along the floor, with Shift up and down`;
    this.pool
      .sphere(key, place, { colour, radius: 0.07 })
      .draggable({ ...this.drag(where, "Move a target", move, hint), kind: "space" });
    this.pool.line(`${key} plumb`, [[place[0], 0, place[2]], place], { colour, width: 1, opacity: 0.6 });
    const here = report?.met === false ? this.figureJoint(joint, at_s) : null;
    if (here) this.pool.line(`${key} gap`, [place, [here.x, here.y, here.z]], { colour: RED, width: 2, dashed: true });
    const name = report?.met === false ? `${joint}: ${report.text}` : joint;
    this.pool.text(`${key} name`, [place[0], place[1] + 0.14, place[2]], name, colour);
  }

  /** A ghost, where an arrow at its time wants it, else where the figure is then. */
  private pose(ask: SolveDraft, where: Where, colour: string): void {
    const wanted = where.kind === "poses" ? ask.poses[where.index]! : ask.frames[where.index]!;
    const arrow = ask.body.find((one) => one.at_s === wanted.at_s);
    const root = this.stage.shown[0]?.joints[0];
    const here = root ? this.figureJoint(root, wanted.at_s) : null;
    const at: Point = arrow?.position ?? (here ? [here.x, here.z] : [0, 0]);
    const facing = arrow?.facing_deg ?? null;
    const floor = this.ghosts.place(wanted.clip, wanted.frame, at, facing === null ? null : radians(facing));
    if (!floor) return;
    const move = (next: SolveDraft, to: Place) => {
      const position: Point = [cm(at[0] + to.x - floor.x), cm(at[1] + to.z - floor.z)];
      const known = next.body.find((one) => one.at_s === wanted.at_s);
      if (known) known.position = position;
      else next.body.push({ at_s: wanted.at_s, position });
    };
    this.pool
      .take(
        `${pathOf(where)} ${wanted.clip}`,
        () => this.ghosts.add(wanted.clip, wanted.frame, floor, colour),
        (ghost) => ghost.update(wanted.frame, floor, { colour }),
      )
      .draggable(this.drag(where, "Place a pose", move, "Drag to say where; an arrow at its time goes with it"));
    this.pool.text(`${pathOf(where)} name`, [at[0], 1.95, at[1]], said(ask, where), colour);
  }

  /** Red from what was asked for to where the motion is, and how far that is. */
  private problem(ask: SolveDraft, where: Where, { problem, text }: Report): void {
    const place = problem?.place;
    if (!place) return;
    const key = pathOf(where);
    const nearest = problem.nearest === null ? "" : `, nearest ${Math.round(100 * problem.nearest) / 100} ${problem.unit}`;
    if (where.kind === "body") {
      const [x, z] = ask.body[where.index]!.position;
      this.pool.line(`problem ${key}`, [[x, 0, z], place], { colour: RED, width: 3, dashed: true });
    } else if (where.kind === "joints") {
      this.pool.line(`problem ${key}`, [this.jointPlace(ask, where.index), place], { colour: RED, width: 3, dashed: true });
    }
    this.pool.sphere(`place ${key}`, place, { colour: RED, radius: 0.05 });
    this.pool.text(`off ${key}`, [place[0], place[1] + 0.15, place[2]], `${text} off${nearest}`, RED);
  }

  /** Dragging shows the change while it lasts, and makes it when it ends. */
  private drag(where: Where, label: string, edit: (ask: SolveDraft, at: Place) => void, title: string): DragHooks {
    return {
      label: title,
      move: (at) => {
        const place = { ...at };
        this.pending = { label, where, edit: (ask) => edit(ask, place) };
        const draft = structuredClone(this.scene!.ask);
        this.pending.edit(draft);
        this.draw(draft);
        this.hooks.tryOut(draft);
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
