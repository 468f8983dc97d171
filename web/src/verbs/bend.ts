/** Bend: the way of a motion over the floor is a line to be dragged, and the motion goes along while it is. */

import { button, el, section } from "../dom";
import { turning } from "../hands";
import type { BendRequest, Motion, VerbFacts } from "../messages";
import { Dragging } from "../panels/dragging";
import { arcLengths, even, length, type Point, pulled } from "../panels/path";
import { Sketch } from "../panels/sketch";
import { subjectChooser } from "../panels/subject";
import { fileButton, VerbPanel } from "../panels/verb";
import { rootsOf, spaced, wayOf } from "../panels/way";
import { watch } from "../panels/watch";
import type { Context, LineOverlay, Panel, State } from "../types";

/** Dragged or drawn on the stage, or of files. */
const DRAWN = ["path", "points", "scale", "flip"];
/** Metres between the points of a way, at least, and how many there are at most. */
const [SPACING_M, MOST_POINTS] = [0.05, 400];
/** Metres between handles, and how many there are at most. */
const [HANDLES_M, MOST_HANDLES] = [1.5, 16];
/** Metres below which a motion goes nowhere. */
const SHORTEST_M = 0.2;
const RECORDED = "#98a1af";

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new BendPanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class BendPanel extends VerbPanel<BendRequest> {
  private readonly lead = el("p", { class: "lead" });
  private readonly sketch: Sketch;
  private readonly dragging: Dragging<BendRequest>;
  private readonly recordedLine: LineOverlay;
  /** The way of the motion as it was, and of which one. */
  private own: { of: string; points: Point[] } = { of: "", points: [] };

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: DRAWN });
    const { stage, store } = context;
    this.dragging = new Dragging(context, verb.name, this.asker);
    this.sketch = new Sketch(stage, {
      anchor: () => null,
      drawn: (points) => this.bend(points, "Draw a path", true),
      edited: (points, label) => this.bend(points, label),
      bending: (points) => this.subject() && this.dragging.ask({ ...this.request, points }),
      shape: pulled,
      handles: (points) => spaced(arcLengths(points), HANDLES_M, MOST_HANDLES),
    });
    this.recordedLine = stage.addLine([], { colour: RECORDED, width: 2, dashed: true, opacity: 0.7 });
    this.recordedLine.visible = false;
    this.element.append(
      section(
        "Motion",
        null,
        this.lead,
        subjectChooser(context, verb.name, ({ requests }) => forget(requests[verb.name] as BendRequest | undefined)),
        this.problems,
        this.facts,
      ),
      section(
        "Path",
        null,
        el(
          "div",
          { class: "row" },
          button("As recorded", () => this.edit("Unbend", forget), { title: "The motion along its own way" }),
          fileButton(context, verb, () => this.request),
        ),
      ),
      section("How", "open", this.form.element),
    );
    watch(store, [(state) => state.clips, (state) => state.results.map(({ id }) => id)], (state) => this.look(state));
  }

  override hint(): string {
    if (!this.subject()) return "Choose a clip or a result to bend.";
    if (this.own.points.length > 0 && length(this.own.points) < SHORTEST_M) return "This motion goes nowhere: choose one that walks.";
    return `Drag the path or its handles, or draw another. ${turning()}`;
  }

  override onShow(): void {
    this.sketch.show(true);
    this.recordedLine.visible = true;
    super.onShow();
  }

  override onHide(): void {
    super.onHide();
    this.dragging.end();
    this.sketch.show(false);
    this.recordedLine.visible = false;
  }

  protected override ready({ points, path }: BendRequest): boolean {
    return this.subject() !== null && ((points?.length ?? 0) >= 2 || Boolean(path));
  }

  // -------------------------------------------------------------- the motion and its way

  /** The motion as it was. */
  private subject(state: State = this.context.store.state): Motion | null {
    const id = state.document.subjects[this.verb.name];
    const all = [...state.clips, ...state.results.flatMap((result) => result.motions)];
    return all.find((motion) => motion.id === id) ?? null;
  }

  private bend(points: Point[], label: string, fresh = false): void {
    this.dragging.end();
    if (!this.subject()) return this.draw();
    this.edit(label, (request) => (delete request.path, (request.points = points)), { fresh });
  }

  private look(state: State): void {
    const motion = this.subject(state);
    const of = motion ? `${motion.id} ${motion.frames} ${motion.fps}` : "";
    if (of === this.own.of) return;
    this.own = { of, points: [] };
    this.draw();
    if (!motion) return;
    void this.context.api.frames(motion.id).then(
      (frames) => {
        if (this.own.of !== of) return;
        const way = wayOf(rootsOf(frames, 3 + 4 * motion.joints.length), motion.fps);
        this.own = { of, points: even(way, Math.max(SPACING_M, length(way) / MOST_POINTS)).map(rounded) };
        this.draw();
      },
      (error: Error) => this.context.store.say(error.message, "error"),
    );
  }

  // -------------------------------------------------------------- what is there

  protected override show(state: State): void {
    this.look(state);
    this.draw();
    const motion = this.subject(state);
    // Nothing is asked for yet, or no longer: the motion itself.
    if (this.visible && motion && !this.ready(this.request) && state.view.shown[0] !== motion.id) {
      this.context.store.setView({ shown: [motion.id] });
    }
  }

  private draw(): void {
    this.lead.textContent = this.hint();
    const { own, request } = this;
    const going = length(own.points) >= SHORTEST_M ? own.points : [];
    this.recordedLine.update(request.points ? going : []);
    if (!this.dragging.request) this.sketch.set(request.points ?? going, [], null);
    this.context.refreshHint();
  }
}

/** The path was of another motion. */
function forget(request: BendRequest | undefined): void {
  if (!request) return;
  delete request.points;
  delete request.path;
}

/** To the millimetre: more would be noise that only makes requests long. */
const rounded = ([x, z]: Point): Point => [Math.round(1000 * x) / 1000, Math.round(1000 * z) / 1000];
