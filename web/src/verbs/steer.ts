/** Steer: a character that answers keys, a gamepad or a stick, follows what is drawn, and keeps clear of what is dragged. */

import { AMBER, RED, TEAL } from "../colours";
import { button, el, section, select, slider, toggle } from "../dom";
import type { SteerRequest, VerbFacts } from "../messages";
import { firstOf } from "../panels/clips";
import { buildOffer } from "../panels/library";
import { SteerClient, type SteerFrame, type SteerHello, type SteerMessage } from "../panels/steerClient";
import { SteerInput } from "../panels/steerInput";
import { fileButton, VerbPanel } from "../panels/verb";
import { watch } from "../panels/watch";
import type { ArrowOverlay, Context, FloorTool, HeatOverlay, LineOverlay, LiveOverlay, Panel, SolidOverlay } from "../types";
import "./steer.css";

/** What a recording takes the place of. */
const LIVE = ["goals", "scene", "start", "own_task", "path"];
const COLOURS = ["#ffffff", "#9fd8d2", "#e8c27a", "#c9b6e8", "#e8a9a0"];
/** Between two looks at the keys, milliseconds. */
const LOOK_MS = 33;
/** Between two plans and two maps. */
const PLAN_MS = 250;
const RADIUS_M = 0.6;
/** How far from who is steered an obstacle or another character begins: in the picture, and not in the way at once. */
const BESIDE_M = 2;
const PLANNED = 5;
/** How much of the nearest planned pose is seen. */
const GHOST = 0.4;

interface Obstacle {
  solid: SolidOverlay;
  x: number;
  z: number;
  vx: number;
  vz: number;
  at: number;
}

/** How far learning has come, in a sentence. */
const preparing = (stage: string, done: number, total: number): string =>
  stage ? `Learning policy: ${stage}${total > 1 ? `, ${Math.round((100 * done) / total)} %` : ""} …` : "Learning policy …";

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new SteerPanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class SteerPanel extends VerbPanel<SteerRequest> {
  private client: SteerClient | null = null;
  private hello: SteerHello | null = null;
  private readonly input = new SteerInput();
  private figures: LiveOverlay[] = [];
  private obstacles: Obstacle[] = [];
  private plan: ArrowOverlay[] = [];
  private ghosts: LiveOverlay[] = [];
  private readonly line: LineOverlay;
  private heat: HeatOverlay | null = null;
  private said = "";
  private chosen = 0;
  private recording = false;
  private speed = 1.3;
  private gait = "";
  private last = 0;
  /** Where the one who is steered is. */
  private place: [number, number] = [0, 0];
  private timers: number[] = [];
  private readonly status = el("p", { class: "quiet-text", attrs: { "aria-live": "polite" } });
  private readonly go = button("Start live control", () => (this.client ? this.stop() : this.start()), { kind: "primary" });
  private readonly record = button("Record", () => this.client?.say({ type: "record", on: !this.recording, character: this.chosen }));
  private readonly who = select<string>("Character", [{ value: "0", label: "first" }], "0", (value) => {
    this.chosen = Number(value);
    this.said = "";
  });
  private readonly gaits = select<string>("Gait", [{ value: "", label: "any" }], "", (value) => {
    this.gait = value;
    this.said = "";
  });
  private readonly map = toggle("Value map", false, (on) => {
    this.map.set(on);
    if (!on) this.heat?.remove();
    this.heat = on && this.client ? this.context.stage.addHeat() : null;
  });

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: ["start", "own_task", "path"] });
    this.line = context.stage.addLine([], { colour: AMBER, width: 3 });
    const pace = slider("Speed", { min: 0.5, max: 4, step: 0.1, value: this.speed, format: (value) => `${value.toFixed(1)} m/s`, onInput: (value) => (this.speed = value) });
    this.record.disabled = this.go.disabled = true;
    // Without a graph there is nobody to steer; one that is just being opened or built is there in a moment.
    watch(context.store, [(state) => state.graph !== null], () => this.offer());
    watch(context.store, [(state) => state.view.character], () => this.undress());
    this.element.append(
      buildOffer(context),
      section(
        "Live",
        null,
        el("p", { class: "lead" }, "Arrow keys, WASD, a gamepad or the stick; Shift is fast. Drag on the floor to draw a line to follow."),
        el("div", { class: "row" }, this.go, this.record),
        this.status,
        this.input.stick,
        pace.element,
        this.gaits.element,
        this.who.element,
        el(
          "div",
          { class: "steer-row" },
          button("Add character", () => this.another(), { kind: "quiet" }),
          button("Obstacle", () => this.obstacle(), { kind: "quiet" }),
          this.map,
        ),
      ),
      section("By goals of a file", "closed", this.problems, this.facts, this.form.element, fileButton(context, verb, () => this.request)),
    );
  }

  override hint(): string {
    const first = firstOf(this.context.store.state, "steer");
    if (first) return first;
    return this.client ? "Steer with the arrow keys, or draw a line on the floor." : "Press Start live control.";
  }

  override onHide(): void {
    this.stop();
    super.onHide();
  }

  protected override asksByItself(): boolean {
    return false;
  }

  // -------------------------------------------------------------- begin and end

  private start(): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.status.textContent = "Connecting …";
    this.client = new SteerClient(`${scheme}://${location.host}/api/steer`, {
      hello: (hello) => this.begin(hello),
      frame: (frame) => this.frame(frame),
      message: (message) => this.hear(message),
      closed: (reason) => {
        this.stop();
        if (reason) this.status.textContent = `${this.status.textContent || "It ended"} (${reason})`;
      },
    });
    this.go.textContent = "Stop";
    this.context.stage.floor.setTool(this.tool());
    this.context.refreshHint();
  }

  private offer(): void {
    this.go.disabled = !this.client && !this.context.store.state.graph;
  }

  private begin(hello: SteerHello): void {
    this.hello = hello;
    this.status.textContent = "Steer. It goes on learning; then it turns better, keeps clear of obstacles, and can be recorded.";
    void this.context.stage.show([]);
    const options = hello.gaits.map((gait) => ({ value: gait, label: gait }));
    this.gaits.element.querySelector("select")?.replaceChildren(
      ...[{ value: "", label: "any" }, ...options].map(({ value, label }) => el("option", { attrs: { value } }, label)),
    );
    this.plan = Array.from({ length: PLANNED }, () => this.context.stage.addArrow([0, 0], 0, { colour: TEAL, length: 0.3 }));
    this.chosen = 0;
    this.who.setChoices([{ value: "0", label: "first" }]);
    this.who.set("0");
    if (this.map.getAttribute("aria-pressed") === "true") this.heat = this.context.stage.addHeat();
    this.input.listen(true);
    this.timers = [window.setInterval(() => this.look(), LOOK_MS), window.setInterval(() => this.ask(), PLAN_MS)];
    this.client?.goal({ speed: 0 });
  }

  private stop(): void {
    for (const timer of this.timers.splice(0)) window.clearInterval(timer);
    this.input.listen(false);
    this.client?.close();
    this.client = this.hello = null;
    this.recording = false;
    this.said = "";
    this.undress();
    for (const overlay of [...this.plan, ...this.obstacles.map(({ solid }) => solid)]) overlay.remove();
    this.plan = [];
    this.obstacles = [];
    this.heat?.remove();
    this.heat = null;
    this.line.update([]);
    this.go.textContent = "Start live control";
    this.offer();
    this.record.textContent = "Record";
    this.record.disabled = true;
    this.context.stage.floor.setTool(null);
    this.context.refreshHint();
  }

  /** Somebody else is seen from the next frame on. */
  private undress(): void {
    for (const overlay of [...this.figures.splice(0), ...this.ghosts.splice(0)]) overlay.remove();
  }

  // -------------------------------------------------------------- what arrives

  private frame(frame: SteerFrame): void {
    const { stage } = this.context;
    if (!this.hello) return;
    frame.rows.forEach((row, n) => {
      this.figures[n] ??= stage.addLive(this.hello!.skeleton, COLOURS[n % COLOURS.length]);
      this.figures[n].update(row);
    });
    const [x, , z] = frame.rows[Math.min(this.chosen, frame.rows.length - 1)] ?? [0, 0, 0];
    this.place = [x!, z!];
    const now = performance.now();
    const seen = this.figures[Math.min(this.chosen, frame.rows.length - 1)]!.where(); // a small character takes small steps
    stage.camera.track(seen.x, seen.z, Math.min((now - this.last) / 1000, 0.1), this.last === 0);
    this.last = now;
    for (const one of this.obstacles) {
      if (now - one.at > 150) [one.vx, one.vz] = [0, 0]; // held still, or let go
    }
  }

  private hear(message: SteerMessage): void {
    if (message.type === "preparing") this.status.textContent = preparing(message.stage, message.done, message.total);
    else if (message.type === "learned") this.learned(message.reports);
    else if (message.type === "error") this.status.textContent = message.error;
    else if (message.type === "plan") {
      message.places.slice(0, PLANNED).forEach(([x, z, heading], n) => this.plan[n]?.update([x, z], (heading * Math.PI) / 180));
      message.poses?.slice(1).forEach((row, n) => {
        this.ghosts[n] ??= this.context.stage.addLive(this.hello!.skeleton, TEAL, GHOST / (n + 1));
        this.ghosts[n].update(row);
      });
      if (message.outside.length) this.status.textContent = `Outside trained range, clamped: ${message.outside.join(", ")}`;
    } else if (message.type === "heat") this.heat?.update(message.x, message.z, message.half_m, message.size, message.cells);
    else if (message.type === "added") this.addChoice(message.character);
    else this.recorded(message.on, message.request);
  }

  /** All is learned: now it can be recorded, and obstacles count. */
  private learned(reports: Record<string, Record<string, number>>): void {
    this.record.disabled = false;
    const { policy_cost: ours, search_cost: best, coverage } = reports["navigate"] ?? {};
    const beside = ours && best ? `; its steps cost ${(ours / best).toFixed(2)} × what a long search finds` : "";
    this.status.textContent = `Learned${coverage === undefined ? "" : ` (${Math.round(100 * coverage)} % of situations met)`}${beside}.`;
  }

  private recorded(on: boolean, request?: Record<string, unknown>): void {
    this.recording = on;
    this.record.textContent = on ? "End recording" : "Record";
    if (!request) return;
    this.stop();
    this.edit(
      "Record steering",
      (document) => {
        for (const name of LIVE as (keyof SteerRequest)[]) delete document[name];
        Object.assign(document, request);
      },
      { fresh: true },
    );
  }

  private addChoice(number: number): void {
    const more = Array.from({ length: number }, (_, n) => ({ value: String(n + 1), label: `number ${n + 2}` }));
    this.who.setChoices([{ value: "0", label: "first" }, ...more]);
    this.who.set(String(this.chosen));
    this.client?.goal({ character: number, speed: 0 }); // it stands until it is steered
  }

  // -------------------------------------------------------------- what is said

  /** Send what keys, gamepad or stick say, if it is something else than before. */
  private look(): void {
    const push = this.input.read();
    if (!push && !this.said) return;
    if (!push) {
      if (this.said !== "rest") this.client?.goal({ character: this.chosen, speed: 0 });
      this.said = "rest";
      return;
    }
    const away = this.context.stage.camera.azimuth + Math.PI - Math.atan2(push.right, push.up);
    const heading = Math.round((away * 180) / Math.PI / 3) * 3;
    const fastest = this.hello?.fastest_m_s ?? 2;
    const wanted = push.fast ? fastest : Math.min(this.speed * Math.min(Math.hypot(push.right, push.up), 1), fastest);
    const speed = Math.round(wanted * 10) / 10;
    const said = `${heading} ${speed} ${this.gait}`;
    if (said === this.said) return;
    this.said = said;
    this.line.update([]);
    this.client?.goal({ character: this.chosen, heading_deg: heading, speed, ...(this.gait ? { gait: this.gait } : {}) });
  }

  private ask(): void {
    this.client?.say({ type: "plan", character: this.chosen, poses: true });
    if (this.heat) this.client?.say({ type: "heat", character: this.chosen });
    if (this.obstacles.length) this.tellObstacles();
  }

  private another(): void {
    const [x, z] = this.beside(this.figures.length - 1, 0.9);
    this.client?.say({ type: "add", x, z, heading_deg: ((this.context.stage.camera.azimuth + Math.PI) * 180) / Math.PI });
  }

  /** Where the n-th thing begins: beyond the figure as the camera sees it, to its one side and the other in turn. There
      it is in the picture, and unhidden. */
  private beside(n: number, angle: number): [number, number] {
    const away = this.context.stage.camera.azimuth + Math.PI + (n % 2 ? -angle : angle) * (1 + (n >> 1));
    return [this.place[0] + BESIDE_M * Math.sin(away), this.place[1] + BESIDE_M * Math.cos(away)];
  }

  private obstacle(): void {
    if (!this.client) return;
    const [beginX, beginZ] = this.beside(this.obstacles.length, -0.5);
    const { stage } = this.context;
    const shape = (x: number, z: number) => ({ kind: "cylinder", at: [x, z] as [number, number], radius: RADIUS_M - 0.25, height: 1 }) as const;
    const made: Obstacle = { solid: stage.addSolid(shape(beginX, beginZ), { colour: RED, opacity: 0.5 }), x: beginX, z: beginZ, vx: 0, vz: 0, at: 0 };
    made.solid.draggable({
      label: "Obstacle",
      move: ({ x, z }) => {
        const now = performance.now();
        const seconds = Math.max((now - made.at) / 1000, 0.016);
        if (seconds < 0.3) [made.vx, made.vz] = [0.7 * made.vx + (0.3 * (x - made.x)) / seconds, 0.7 * made.vz + (0.3 * (z - made.z)) / seconds];
        [made.x, made.z, made.at] = [x, z, now];
        made.solid.update(shape(x, z));
        this.tellObstacles();
      },
      remove: () => {
        made.solid.remove();
        this.obstacles = this.obstacles.filter((one) => one !== made);
        this.tellObstacles();
      },
    });
    this.obstacles.push(made);
    this.tellObstacles();
  }

  private tellObstacles(): void {
    this.client?.obstacles(this.obstacles.map(({ x, z, vx, vz }) => ({ x, z, vx, vz, radius: RADIUS_M })));
  }

  /** Draw a line to follow. */
  private tool(): FloorTool {
    let stroke: [number, number][] = [];
    return {
      cursor: "crosshair",
      down: ({ x, z, event }) => {
        if (event.button !== 0 || event.altKey || !this.hello) return false;
        stroke = [[x, z]];
        return true;
      },
      move: ({ x, z }) => {
        const [px, pz] = stroke.at(-1) ?? [x, z];
        if (Math.hypot(x - px, z - pz) < 0.05) return;
        stroke.push([x, z]);
        this.line.update(stroke);
      },
      up: () => {
        if (stroke.length > 5) this.client?.goal({ character: this.chosen, points: stroke, ...(this.gait ? { gait: this.gait } : {}) });
        this.said = "";
        stroke = [];
      },
      cancel: () => this.line.update([]),
    };
  }
}
