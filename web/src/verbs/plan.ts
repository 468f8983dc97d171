/** Plan: draw a scene by dragging solids, gaps, stones and bars; a way through it comes at once, and its bound shrinks. */

import { AMBER, CLIP_COLOURS, TEAL } from "../colours";
import { takers } from "../dialogs/drop";
import { button, el, section } from "../dom";
import type { DraftAsk, FileAsk, Obstacle, PlaceGoal, Plain, PlanRequest, Result, Scene, Shape, VerbFacts } from "../messages";
import { firstOf } from "../panels/clips";
import { buildOffer } from "../panels/library";
import { jobStrip } from "../panels/progress";
import { boxOf, type Point, shifted } from "../panels/solveobstacles";
import { Pool } from "../panels/solvepool";
import { cm, degrees, radians } from "../panels/solverequest";
import { fileButton, VerbPanel } from "../panels/verb";
import type { Context, DragHooks, FloorTool, Panel, Place, Solid, State } from "../types";
import "./plan.css";

type Shaped = "obstacles" | "gaps" | "stones" | "keep_off" | "step_over";
type Mode = "start" | "goal" | "pillar" | "box" | "gap" | "stone" | "keep_off" | "step_over" | "bar" | "gate";
type Change = (request: PlanRequest) => void;

const MODES: Record<Mode, { label: string; hint: string }> = {
  start: { label: "Start", hint: "Press where the motion begins, drag to where it looks." },
  goal: { label: "Goal", hint: "Press where it ends, drag to where it looks." },
  pillar: { label: "Pillar", hint: "Press where the pillar stands, drag to size it." },
  box: { label: "Box", hint: "Drag from one corner of the box to the other." },
  gap: { label: "Gap", hint: "Drag from one corner of the gap to the other: no foot stands there." },
  stone: { label: "Stone", hint: "Press where a foot must step; stones are stepped on in order." },
  keep_off: { label: "Keep off", hint: "Drag over the floor that no foot may step on." },
  step_over: { label: "Step over", hint: "Drag over the floor where something low stands." },
  bar: { label: "Bar", hint: "Drag from one end of the bar to the other; it is passed under." },
  gate: { label: "Gate", hint: "Drag from one end of the gate to the other; gates are passed in order." },
};
/** Drawn on the stage. */
const DRAWN = ["start", "goals", "scene", "path"];
const CLICK_M = 0.15;
const ARROW_M = 0.8;
const TALL_M = 1.8;
/** Metres: how high things are drawn. */
const HEIGHTS: Record<Shaped, number> = { obstacles: TALL_M, gaps: 0.01, stones: 0.04, keep_off: 0.02, step_over: 0.2 };
const COLOURS: Record<Shaped, string> = {
  obstacles: AMBER,
  gaps: "#11151c",
  stones: CLIP_COLOURS[5],
  keep_off: CLIP_COLOURS[7],
  step_over: AMBER,
};
/** Lower things are drawn as outlines on the floor. */
const LOW_M = 0.1;
/** Files that a scene can be read from. */
const SCENES = [".yaml", ".yml", ".json", ".svg"];

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new PlanPanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class PlanPanel extends VerbPanel<PlanRequest> {
  private readonly pool: Pool;
  private readonly buttons = new Map<Mode, HTMLButtonElement>();
  private readonly bound = el("div", { class: "bound", hidden: true });
  private readonly meter = el("meter", { attrs: { min: "0", max: "1", value: "0", "aria-label": "Proved share of the cost" } });
  private readonly proved = el("span", { class: "figures", attrs: { "aria-live": "polite" } });
  private mode: Mode = "goal";
  private sketched: { from: Point; to: Point } | null = null;
  /** What is in the hand, until it is let go. */
  private pending: { label: string; change: Change } | null = null;

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: DRAWN }, { time_limit_s: 5 });
    this.bound.append(this.meter, this.proved);
    this.pool = new Pool(context.stage);
    const tools = el("div", { class: "placing", attrs: { role: "toolbar", "aria-label": "Put down" } });
    for (const mode of Object.keys(MODES) as Mode[]) {
      const made = button(MODES[mode].label, () => this.setMode(mode), { title: MODES[mode].hint });
      this.buttons.set(mode, made);
      tools.append(made);
    }
    const row = el(
      "div",
      { class: "row wrap" },
      button("Search on", () => this.askNow(), { kind: "primary", title: "Search again, for as long as Time limit says" }),
      button("Empty the scene", () => this.edit("Empty the scene", emptied), { kind: "quiet" }),
      fileButton(context, verb, () => this.request),
      this.opener(),
    );
    takers.add((file) => {
      const taken = this.visible && SCENES.some((suffix) => file.name.toLowerCase().endsWith(suffix));
      if (taken) void this.open(file);
      return taken;
    });
    this.element.classList.add("planner");
    this.element.append(
      buildOffer(context),
      section(
        "Scene",
        null,
        el("p", { class: "lead" }, verb.summary),
        tools,
        row,
        jobStrip(context, [verb.name]),
        this.bound,
        this.problems,
        this.facts,
      ),
      section("How", "open", this.form.element),
    );
    this.setMode("goal");
  }

  override hint(): string {
    const first = firstOf(this.context.store.state, "draw a scene");
    if (first) return first;
    return MODES[this.mode].hint;
  }

  override onShow(): void {
    this.context.stage.floor.setTool(this.tool());
    super.onShow();
    this.draw();
  }

  override onHide(): void {
    super.onHide();
    this.context.stage.floor.setTool(null);
    this.pool.redraw(() => undefined);
  }

  protected override ready(request: PlanRequest): boolean {
    return endOf(request) !== null;
  }

  protected override show(_: State): void {
    if (!this.pending) this.draw();
  }

  protected override showResult(state: State): void {
    super.showResult(state);
    const result = this.visible ? this.resultOnStage(state) : null;
    const bound = result?.metrics["bound"]?.value;
    this.bound.hidden = !bound;
    this.meter.value = bound ? 1 / bound : 0;
    this.proved.textContent = bound ? `within ×${bound.toFixed(2)} of the best` : "";
    if (result) this.trace(result);
  }

  /** Footprints, and the states that were looked at as a faint cloud. */
  private trace(result: Result): void {
    const { stage } = this.context;
    const prints = (result.details["footprints"] ?? []) as [number, number, number, number][];
    for (const [x, z, yaw, side] of prints) {
      const [dx, dz] = [0.11 * Math.sin(yaw), 0.11 * Math.cos(yaw)];
      const colour = CLIP_COLOURS[side ? 3 : 0];
      this.keepMark(stage.addLine([[x - dx, z - dz], [x + dx, z + dz]], { colour, width: 5, opacity: 0.8 }));
    }
    const cloud = (result.details["expanded"] ?? []) as Point[];
    if (cloud.length > 0) this.keepMark(stage.addDots(cloud, TEAL));
  }

  /** Scenes and floor plans, picked; they can be dropped on the window too. */
  private opener(): HTMLElement {
    const input = el("input", { attrs: { type: "file", accept: SCENES.join(","), hidden: "", "aria-label": "Scene file" } });
    input.addEventListener("change", () => {
      const file = input.files?.[0];
      input.value = "";
      if (file) void this.open(file);
    });
    const title = "A scene as YAML or JSON, or an SVG floor plan whose layers are named after the parts of a scene";
    return el("span", {}, input, button("Open a scene", () => input.click(), { kind: "quiet", title }));
  }

  private async open(file: File): Promise<void> {
    const { api, store } = this.context;
    try {
      const ask: FileAsk = { name: file.name, text: await file.text(), request: this.request as Record<string, Plain> };
      const { request } = await api.send<DraftAsk>("POST", `/api/verbs/${this.verb.name}/draft`, ask);
      this.edit(`Open ${file.name}`, (now) => {
        for (const key of Object.keys(now)) delete (now as Record<string, unknown>)[key];
        Object.assign(now, request);
      });
      store.say(`${file.name} is the scene.`);
    } catch (error) {
      store.say((error as Error).message, "error");
    }
  }

  // -------------------------------------------------------------- tools

  private setMode(mode: Mode): void {
    this.mode = mode;
    for (const [each, made] of this.buttons) made.setAttribute("aria-pressed", String(each === mode));
    this.context.refreshHint();
  }

  private tool(): FloorTool {
    return {
      cursor: "crosshair",
      down: ({ x, z, event }) => {
        if (event.button !== 0 || event.altKey) return false;
        this.sketched = { from: [x, z], to: [x, z] };
        this.draw();
        return true;
      },
      move: ({ x, z }) => {
        if (!this.sketched) return;
        this.sketched.to = [x, z];
        this.draw();
      },
      up: () => {
        const done = this.sketched;
        this.sketched = null;
        if (done) this.put(done.from, done.to);
        this.draw();
      },
      cancel: () => {
        this.sketched = null;
        this.draw();
      },
    };
  }

  private put(from: Point, to: Point): void {
    const { mode } = this;
    const made = placed(mode, from, to);
    this.edit(`Put down: ${MODES[mode].label.toLowerCase()}`, made);
    if (mode === "start") this.setMode("goal");
  }

  // -------------------------------------------------------------- drawing

  private draw(): void {
    if (!this.visible) return;
    const request = structuredClone(this.request);
    this.pending?.change(request);
    if (this.sketched) placed(this.mode, this.sketched.from, this.sketched.to)(request);
    this.pool.redraw(() => {
      this.drawEnds(request);
      const scene = request.scene ?? {};
      for (const name of ["obstacles", "gaps", "stones", "keep_off", "step_over"] as Shaped[]) {
        shapesOf(scene, name).forEach((shape, index) => this.drawShape(name, index, shape));
      }
      passedOf(request).forEach((goal, index) => {
        if (goal.ends) this.drawLine("goals", index, goal.ends, 0.02);
        else if (goal.place) this.pool.sphere(`goals ${index}`, goal.place, { colour: AMBER, radius: 0.1 });
      });
    });
  }

  private drawEnds(request: PlanRequest): void {
    const at: Point = request.start?.place ?? [0, 0];
    const facing = request.start?.facing_deg ?? 0;
    this.pool
      .arrow("start", at, radians(facing), { colour: TEAL, length: ARROW_M })
      .draggable(this.drag("Move the start", (ask, to) => (ask.start = { ...ask.start, place: [cm(to.x), cm(to.z)] })));
    const goal = endOf(request);
    if (!goal) return;
    const { place } = goal;
    const moved = (ask: PlanRequest, to: Place) => {
      const end = endOf(ask);
      if (end) end.place = [cm(to.x), cm(to.z)];
    };
    const radius = goal.tolerance_m ?? 0.3;
    const ring = Array.from({ length: 33 }, (_, k): Point => {
      const turn = (2 * Math.PI * k) / 32;
      return [place[0] + radius * Math.sin(turn), place[1] + radius * Math.cos(turn)];
    });
    this.pool.line("goal ring", ring, { colour: AMBER, width: 3 });
    this.pool.sphere("goal", place, { colour: AMBER, radius: 0.08 }).draggable(this.drag("Move the goal", moved));
    if (typeof goal.facing_deg === "number") {
      this.pool.arrow("goal facing", place, radians(goal.facing_deg), { colour: AMBER, length: ARROW_M });
    }
  }

  private drawShape(name: Shaped, index: number, shape: Shape & { height_m?: number | null; base_m?: number }): void {
    const key = `${name} ${index}`;
    const { centre, radius_m: radius, low, high, corners, ends } = shape;
    if (ends) {
      this.drawLine(name, index, ends, shape.base_m || (shape.height_m ?? HEIGHTS[name]));
      return;
    }
    const height = shape.height_m ?? HEIGHTS[name];
    const style = { colour: COLOURS[name], opacity: name === "obstacles" ? 0.4 : 0.7 };
    const of = (ask: PlanRequest): Shape => shapesOf(ask.scene ?? {}, name)[index]!;
    const hooks = (from: Point, change: (one: Shape, dx: number, dz: number) => void): DragHooks => ({
      ...this.drag("Move a part of the scene", (ask, to) => change(of(ask), to.x - from[0], to.z - from[1])),
      remove: () => this.edit("Remove a part of the scene", (ask) => void shapesOf(ask.scene ?? {}, name).splice(index, 1)),
    });
    if (centre && radius) {
      this.pool
        .solid(key, { kind: "cylinder", at: centre, radius, height }, style)
        .draggable(hooks(centre, (one, dx, dz) => (one.centre = shifted(centre, dx, dz))));
      this.handle(`${key} size`, [centre[0] + radius, centre[1]], (ask, to) => {
        of(ask).radius_m = Math.max(0.05, cm(Math.hypot(to.x - centre[0], to.z - centre[1])));
      });
    } else if (low && high) {
      const middle: Point = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
      const solid: Solid = { kind: "box", at: middle, size: [high[0] - low[0], height, high[1] - low[1]] };
      this.pool
        .solid(key, solid, style)
        .draggable(hooks(middle, (one, dx, dz) => Object.assign(one, { low: shifted(low, dx, dz), high: shifted(high, dx, dz) })));
      this.handle(`${key} low`, low, (ask, to) => Object.assign(of(ask), boxOf([to.x, to.z], high)));
      this.handle(`${key} high`, high, (ask, to) => Object.assign(of(ask), boxOf(low, [to.x, to.z])));
    } else if (corners) {
      const [first] = corners;
      if (!first) return;
      const moved = (one: Shape, dx: number, dz: number) => (one.corners = corners.map((at) => shifted(at, dx, dz)));
      this.pool.line(key, [...corners, first], { colour: style.colour, width: 4 }).draggable(hooks(first, moved));
      if (height < LOW_M) return;
      // Its top and its edges: a prism that can be looked through.
      const upper = (at: Point): [number, number, number] => [at[0], height, at[1]];
      this.pool.line(`${key} top`, [...corners, first].map(upper), { colour: style.colour, width: 2, opacity: 0.6 });
      corners.forEach((at, k) => {
        this.pool.line(`${key} edge ${k}`, [[at[0], 0, at[1]], upper(at)], { colour: style.colour, width: 2, opacity: 0.6 });
      });
    }
    if (name === "stones") {
      const at: Point = centre ?? low ?? [0, 0];
      this.pool.text(`${key} name`, [at[0], 0.12, at[1]], String(index + 1), style.colour);
    }
  }

  /** A bar or a wall with its posts, or a line to cross, dashed. */
  private drawLine(name: Shaped | "goals", index: number, ends: [Point, Point], height: number): void {
    const key = `${name} ${index}`;
    const [a, b] = ends;
    const crossed = name === "goals";
    const listOf = (ask: PlanRequest): { ends?: [Point, Point] | null }[] =>
      crossed ? ((ask.goals ?? []) as PlaceGoal[]) : shapesOf(ask.scene ?? {}, name);
    this.pool.line(key, [[a[0], height, a[1]], [b[0], height, b[1]]], { colour: AMBER, width: 5, dashed: crossed });
    ends.forEach((end, side) => {
      if (!crossed) this.pool.line(`${key} post ${side}`, [[end[0], 0, end[1]], [end[0], height, end[1]]], { colour: AMBER, width: 2 });
      const moved = (ask: PlanRequest, to: Place) => (listOf(ask)[index]!.ends![side] = [cm(to.x), cm(to.z)]);
      const remove = () => this.edit("Remove a part of the scene", (ask) => void listOf(ask).splice(index, 1));
      this.pool
        .sphere(`${key} end ${side}`, [end[0], 0.05, end[1]], { colour: AMBER, radius: 0.07 })
        .draggable({ ...this.drag("Move an end", moved), remove });
    });
  }

  private handle(key: string, at: Point, change: (ask: PlanRequest, to: Place) => void): void {
    const made = this.pool.sphere(key, [at[0], 0.05, at[1]], { colour: AMBER, radius: 0.05 });
    made.draggable(this.drag("Size a part of the scene", change));
  }

  /** Dragging shows the change while it lasts, and makes it when it ends. */
  private drag(label: string, change: (ask: PlanRequest, to: Place) => void): DragHooks {
    return {
      label: "Drag to move; Delete removes",
      move: (at) => {
        const to = { ...at };
        this.pending = { label, change: (ask) => void change(ask, to) };
        this.draw();
      },
      end: () => {
        const done = this.pending;
        this.pending = null;
        if (done) this.edit(done.label, done.change);
      },
    };
  }
}

/** What pressing here and letting go there adds to a request. */
function placed(mode: Mode, from: Point, to: Point): Change {
  const away = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const isClick = away < CLICK_M;
  const at = shifted(from, 0, 0);
  const facing = degrees(Math.atan2(to[0] - from[0], to[1] - from[1]));
  const box = isClick ? boxOf(shifted(at, -0.5, -0.25), shifted(at, 0.5, 0.25)) : boxOf(from, to);
  const ends: [Point, Point] = [at, isClick ? shifted(at, 1.5, 0) : shifted(to, 0, 0)];
  const circle = (usual: number) => ({ centre: at, radius_m: isClick ? usual : cm(away) });
  return (ask) => {
    const scene = (ask.scene ??= {});
    if (mode === "start") ask.start = { ...ask.start, place: at, ...(isClick ? {} : { facing_deg: facing }) };
    else if (mode === "goal") {
      ask.goals = [...passedOf(ask), { ...endOf(ask), place: at, ...(isClick ? {} : { facing_deg: facing }) }];
    } else if (mode === "pillar") obstaclesOf(scene).push(circle(0.3));
    else if (mode === "box") obstaclesOf(scene).push(box);
    else if (mode === "bar") obstaclesOf(scene).push({ ends, base_m: 1.4 });
    else if (mode === "gap") (scene.gaps ??= []).push(box);
    else if (mode === "stone") (scene.stones ??= []).push(circle(0.12));
    else if (mode === "keep_off") (scene.keep_off ??= []).push(box);
    else if (mode === "step_over") (scene.step_over ??= []).push({ ...box, height_m: 0.15 });
    else {
      const end = endOf(ask);
      ask.goals = [...passedOf(ask), { ends }, ...(end ? [end] : [])];
    }
  };
}

/** Where it ends: the last goal, if it has a place. */
function endOf(request: PlanRequest): (PlaceGoal & { place: Point }) | null {
  const last = (request.goals ?? []).at(-1) as PlaceGoal | undefined;
  return last?.place ? (last as PlaceGoal & { place: Point }) : null;
}

/** What is passed before it ends. */
function passedOf(request: PlanRequest): PlaceGoal[] {
  const goals = (request.goals ?? []) as PlaceGoal[];
  return endOf(request) ? goals.slice(0, -1) : goals;
}

function obstaclesOf(scene: Scene): Obstacle[] {
  if (!Array.isArray(scene.obstacles)) scene.obstacles = [];
  return scene.obstacles;
}

function shapesOf(scene: Scene, name: Shaped): Shape[] {
  if (name === "obstacles") return Array.isArray(scene.obstacles) ? scene.obstacles : [];
  return scene[name] ?? [];
}

function emptied(request: PlanRequest): void {
  delete request.scene;
  delete request.path;
  const end = endOf(request);
  request.goals = end ? [end] : [];
}
