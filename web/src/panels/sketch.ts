/** The path on the stage: drawn by pressing and dragging, bent by its handles; with stretches and the last look. */

import { AMBER } from "../colours";
import type { ArrowOverlay, DragHooks, FloorTool, LineOverlay, Overlay, SphereOverlay, Stage } from "../types";
import { at, bent, even, HANDLE_TOLERANCE, handles, length, nearest, part, type Point, without } from "./path";
import { said, type Wish } from "./wishes";

/** Metres below which a stroke is a slip of the hand. */
const SHORTEST = 0.3;
/** Metres between the points that the hand leaves. */
const GRAIN = 0.02;
/** Most handles; a longer path gets coarser ones. */
const MOST_HANDLES = 40;
/** Metres from the line at which a double click still means it. */
const REACH = 0.35;

export interface SketchHooks {
  /** Where the stroke must begin, if somebody stands there already. */
  anchor(): Point | null;
  drawn(points: Point[]): void;
  /** The same path, bent; as many points as before, unless a handle was removed. */
  edited(points: Point[], label: string): void;
  faced?(heading: number): void;
  /** Beads were moved to these metres along the path. */
  stretched?(start: number, stop: number): void;
  /** The path while a handle is dragged; who hears of it also lets the line itself be dragged. */
  bending?(points: Point[]): void;
  /** The path after one of its points was dragged to a place; else it bends as far as the handles beside it. */
  shape?(points: readonly Point[], index: number, to: Point): Point[];
  /** Which points of a path are its handles; else both ends and where it turns. */
  handles?(points: readonly Point[]): number[];
}

export class Sketch {
  private points: Point[] = [];
  private marks: number[] = [];
  private readonly line: LineOverlay;
  private spheres: SphereOverlay[] = [];
  private beads: SphereOverlay[] = [];
  private selection: [number, number] | null = null;
  private span: LineOverlay | null = null;
  private stretches: readonly Wish[] = [];
  private wishes: Overlay[] = [];
  private arrow: ArrowOverlay | null = null;
  private facing: number | null = null;
  private visible = false;

  constructor(
    private readonly stage: Stage,
    private readonly hooks: SketchHooks,
  ) {
    this.line = stage.addLine([], { colour: AMBER, width: 3 });
    this.line.visible = false;
    if (hooks.bending) this.line.draggable(this.grip());
  }

  show(visible: boolean): void {
    this.visible = visible;
    this.line.visible = visible;
    this.stage.floor.setTool(visible ? this.tool() : null);
    this.draw();
    this.drawWishes();
  }

  /** Show this path; handles that were put on it stay as long as its points are the same ones. */
  set(points: Point[], stretches: readonly Wish[], facing: number | null): void {
    const stays = (index: number) => String(points.at(index)) === String(this.points.at(index));
    const same = points.length === this.points.length && this.marks.length > 0 && (stays(0) || stays(-1));
    this.points = points;
    if (!same) this.mark();
    this.facing = facing;
    this.line.update(points);
    this.stretches = stretches;
    this.draw();
    this.drawWishes();
  }

  /** Put beads at these metres along the path, to be dragged; null takes them away. */
  select(range: [number, number] | null): void {
    this.selection = range;
    this.drawBeads();
  }

  private mark(): void {
    if (this.hooks.handles) return void (this.marks = this.hooks.handles(this.points));
    let tolerance = HANDLE_TOLERANCE;
    this.marks = handles(this.points);
    while (this.marks.length > MOST_HANDLES) this.marks = handles(this.points, tolerance *= 1.5);
  }

  // -------------------------------------------------------------- drawing

  private tool(): FloorTool {
    let stroke: Point[] | null = null;
    return {
      cursor: "crosshair",
      down: ({ x, z, event }) => {
        if (event.button !== 0 || event.altKey) return false;
        const anchor = this.hooks.anchor();
        stroke = anchor ? [anchor, [x, z]] : [[x, z]];
        this.hide();
        this.line.update(stroke);
        return true;
      },
      move: ({ x, z }) => {
        const last = stroke?.at(-1);
        if (!stroke || !last || Math.hypot(x - last[0], z - last[1]) < GRAIN) return;
        stroke.push([x, z]);
        this.line.update(stroke);
      },
      up: () => {
        const [done, drawn] = [stroke, stroke !== null && length(stroke) >= SHORTEST];
        stroke = null;
        if (done && drawn) this.hooks.drawn(even(done).map(rounded));
        else this.restore();
      },
      cancel: () => {
        stroke = null;
        this.restore();
      },
      doubleClick: ({ x, z }) => this.insert([x, z]),
    };
  }

  private restore(): void {
    this.line.update(this.points);
    this.draw();
    this.drawWishes();
  }

  /** A new handle on the line, where it was double-clicked. */
  private insert(place: Point): void {
    if (this.points.length < 2) return;
    const { index, away } = nearest(this.points, place);
    if (away > REACH || this.marks.includes(index)) return;
    this.marks = [...this.marks, index].sort((a, b) => a - b);
    this.draw();
  }

  // -------------------------------------------------------------- handles

  private hide(): void {
    for (const overlay of [...this.spheres, ...this.beads, ...this.wishes]) overlay.remove();
    [this.spheres, this.beads, this.wishes] = [[], [], []];
    this.arrow?.remove();
    this.span?.remove();
    this.arrow = this.span = null;
  }

  /** Spheres that can stay do: one that was pressed keeps hearing keys. */
  private draw(): void {
    const wanted = this.visible && this.points.length > 1 ? this.marks.length : 0;
    if (this.spheres.length !== wanted) {
      for (const sphere of this.spheres) sphere.remove();
      this.spheres = Array.from({ length: wanted }, (_, which) => this.handle(which));
    }
    this.spheres.forEach((sphere, which) => sphere.update(this.points[this.marks[which]!]!));
    this.drawArrow();
    this.drawBeads();
  }

  private handle(which: number): SphereOverlay {
    const last = this.marks.length - 1;
    const end = which === 0 || which === last;
    let [before, now] = [this.points, this.points];
    const sphere = this.stage.addSphere(this.points[this.marks[which]!]!, {
      colour: AMBER,
      radius: end ? 0.075 : 0.055,
    });
    return sphere.draggable({
      label: which === 0
        ? "Start of the path"
        : which === last
        ? "End of the path"
        : "Drag to bend the path; Delete removes",
      start: () => (before = now = this.points),
      move: ({ x, z }) => {
        now = this.bent(before, which, [x, z]);
        this.hooks.bending?.(now);
        sphere.update([x, z]);
        if (which === last && this.facing !== null) this.arrow?.update([x, z], this.facing);
      },
      end: () => now !== before && this.hooks.edited(now, "Bend the path"),
      remove: () => {
        if (this.marks.length <= 2) return;
        const points = without(this.points, this.marks, which).map(rounded);
        this.marks = []; // found anew on the line that is left
        this.hooks.edited(points, "Remove a handle");
      },
    });
  }

  /** The path while its handle is at a place, shown. */
  private bent(before: Point[], which: number, to: Point): Point[] {
    const { shape } = this.hooks;
    const now = (shape ? shape(before, this.marks[which]!, to) : bent(before, this.marks, which, to)).map(rounded);
    this.line.update(now);
    if (shape) this.spheres.forEach((sphere, k) => sphere.update(now[this.marks[k]!]!));
    return now;
  }

  /** The line itself: it is taken where it is pressed, by a handle that comes there. */
  private grip(): DragHooks {
    let [before, now] = [this.points, this.points];
    let [which, from, start]: [number, Point, Point] = [0, [0, 0], [0, 0]];
    let pressed: Point = [0, 0];
    this.stage.element.addEventListener(
      "pointerdown",
      (event) => {
        const at = this.stage.floor.under(event);
        if (at) pressed = [at.x, at.z];
      },
      true, // before the stage takes it
    );
    return {
      label: "Drag to bend the path",
      start: () => {
        before = now = this.points;
        const { index } = nearest(before, pressed);
        if (!this.marks.includes(index)) this.marks = [...this.marks, index].sort((a, b) => a - b);
        which = this.marks.indexOf(index);
        [from, start] = [before[index]!, before[0]!];
        this.draw();
      },
      // A line is where its first point is: what is told is how far that would have gone.
      move: ({ x, z }) => {
        now = this.bent(before, which, [from[0] + x - start[0], from[1] + z - start[1]]);
        this.hooks.bending?.(now);
      },
      end: () => now !== before && this.hooks.edited(now, "Bend the path"),
    };
  }

  private drawArrow(): void {
    this.arrow?.remove();
    this.arrow = null;
    const end = this.points.at(-1);
    if (!this.visible || this.facing === null || !end || this.points.length < 2) return;
    let heading = this.facing;
    const arrow = this.stage.addArrow(end, heading, { colour: AMBER, length: 0.8 });
    this.arrow = arrow.draggable({
      kind: "turn",
      label: "Where to look at the end",
      move: (_, to) => arrow.update(end, heading = to),
      end: () => this.hooks.faced?.(heading),
    });
  }

  // -------------------------------------------------------------- stretches

  private drawWishes(): void {
    for (const overlay of this.wishes) overlay.remove();
    this.wishes = [];
    if (!this.visible || this.points.length < 2) return;
    const whole = length(this.points);
    for (const wish of this.stretches) {
      const [start, stop] = [Math.min(wish.start_m, whole), Math.min(wish.end_m, whole)];
      if (stop > start) {
        this.wishes.push(
          this.stage.addLine(part(this.points, start, stop), { colour: AMBER, width: 7, opacity: 0.45 }),
        );
      }
      const [x, z] = at(this.points, (start + stop) / 2).point;
      this.wishes.push(this.stage.addText([x, 0.12, z], said(wish), AMBER));
    }
  }

  private drawBeads(): void {
    for (const bead of this.beads) bead.remove();
    this.span?.remove();
    [this.beads, this.span] = [[], null];
    if (!this.visible || !this.selection || this.points.length < 2) return;
    const range: [number, number] = [...this.selection];
    const span =
      (this.span = this.stage.addLine(part(this.points, ...range), { colour: AMBER, width: 8, opacity: 0.8 }));
    this.beads = ([0, 1] as const).map((side) => {
      const bead = this.stage.addSphere(at(this.points, range[side]).point, { colour: "#ffffff", radius: 0.1 });
      return bead.draggable({
        label: side === 0 ? "Where the stretch begins" : "Where the stretch ends",
        move: ({ x, z }) => {
          const { s } = nearest(this.points, [x, z]);
          range[side] = side === 0 ? Math.min(s, range[1]) : Math.max(s, range[0]);
          bead.update(at(this.points, range[side]).point);
          span.update(part(this.points, ...range));
        },
        end: () => this.hooks.stretched?.(...range),
      });
    });
  }
}

/** To the millimetre: more would be noise that only makes requests long. */
const rounded = ([x, z]: Point): Point => [Math.round(1000 * x) / 1000, Math.round(1000 * z) / 1000];
