/** Follow: draw a path on the floor, and somebody walks it. */

import { button, el, fill, menu, section, textField } from "../dom";
import { turning } from "../hands";
import type { FollowRequest, LabelGoal, Result, VerbFacts } from "../messages";
import { canonical } from "../panels/asking";
import { firstOf } from "../panels/clips";
import { at, carried, length, moved, type Point, turned } from "../panels/path";
import { Sketch } from "../panels/sketch";
import { stretchEditor } from "../panels/stretches";
import { nameOf } from "../panels/subject";
import { fileButton, VerbPanel } from "../panels/verb";
import { wishesOf } from "../panels/wishes";
import { buildOffer } from "../panels/library";
import type { Context, Panel, State } from "../types";

const SHAPES = [
  { label: "Line", text: "line:length=10" },
  { label: "Circle", text: "circle:radius=3" },
  { label: "Eight", text: "eight:radius=3" },
  { label: "S", text: "s:radius=3" },
  { label: "Square", text: "square:side=6" },
  { label: "Zig-zag", text: "zigzag:leg=3,legs=4,angle=60" },
  { label: "Spiral", text: "spiral" },
] as const;
/** Drawn and dragged on the stage, or of files. */
const DRAWN = ["path", "points", "scale", "flip", "after"];
/** A hand trembles: metres over which what it draws is smoothed, unless somebody says otherwise. */
const SMOOTH_M = 0.3;

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new FollowPanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class FollowPanel extends VerbPanel<FollowRequest> {
  private readonly sketch: Sketch;
  private readonly stretches;
  private readonly lead = el("p", { class: "lead" });
  private readonly note = el("div", { class: "note" });
  private readonly shapeField = textField("Shape with its measures", "", (text) => text.trim() && void this.shape(text.trim()), "circle:radius=4,turns=2");

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, { skip: DRAWN }, { smooth_m: SMOOTH_M });
    this.stretches = stretchEditor(context, {
      change: (label, goals) => this.edit(label, (request) => set(request, goals)),
      select: (range) => this.sketch.select(range),
    });
    this.sketch = new Sketch(context.stage, {
      anchor: () => this.anchor()?.point ?? null,
      drawn: (points) => this.draw(points, "Draw a path"),
      edited: (points, label) => this.edit(label, (request) => bend(request, points)),
      faced: (heading) => this.edit("Turn the last look", (request) => (request.facing_deg = degrees(heading))),
      stretched: (start, stop) => this.stretches.moved(start, stop),
    });
    this.element.append(
      buildOffer(context),
      section("Path", null, this.lead, this.note, this.shapes(), this.facts, this.problems),
      section("Along the way", null, this.stretches.element),
      section("How", null, this.form.element, this.another()),
      section("More shapes", "closed", this.shapeField.element),
    );
  }

  private get points(): Point[] {
    return this.request.points ?? [];
  }

  override hint(): string {
    const first = firstOf(this.context.store.state, "draw a path on the floor");
    if (first) return first;
    if (this.points.length >= 2) return `Draw again, or drag the handles. ${turning()}`;
    return this.request.after ? "Draw on from where the figure stands." : "Draw a path on the floor.";
  }

  override onShow(): void {
    this.sketch.show(true);
    super.onShow();
  }

  override onHide(): void {
    super.onHide();
    this.sketch.show(false);
  }

  protected override ready({ points, path }: FollowRequest): boolean {
    return (points?.length ?? 0) >= 2 || Boolean(path);
  }

  // -------------------------------------------------------------- changes

  private draw(points: Point[], label: string): void {
    this.edit(
      label,
      (request) => {
        for (const name of ["path", "goals", "facing_deg"] as const) delete request[name];
        request.points = points;
      },
      { fresh: true },
    );
  }

  private shapes(): HTMLElement {
    const items = SHAPES.map(({ label, text }) => ({ label, run: () => void this.shape(text) }));
    const open = button("Shapes", () => menu(open, items), { icon: "path" });
    open.setAttribute("aria-haspopup", "menu");
    const clear = () =>
      this.edit("Clear the path", (request) => {
        for (const name of [...DRAWN, "goals", "facing_deg"] as (keyof FollowRequest)[]) delete request[name];
      });
    return el(
      "div",
      { class: "row" },
      open,
      button("Clear", clear, { kind: "quiet" }),
      fileButton(this.context, this.verb, () => this.request),
    );
  }

  private another(): HTMLElement {
    const next = (request: FollowRequest) => (request.seed = (request.seed ?? 0) + (request.count ?? 1));
    return button("Another walk", () => this.edit("Try another seed", next), { title: "The same path, another seed" });
  }

  private async shape(text: string): Promise<void> {
    try {
      const drawn = await this.context.api.get<Point[]>(`/api/path?text=${encodeURIComponent(text)}`);
      const from = this.anchor();
      this.shapeField.setError(null);
      this.draw(from ? turned(moved(drawn, from.point), from.heading) : drawn, `Draw ${text.split(":")[0]}`);
    } catch (error) {
      this.shapeField.setError((error as Error).message);
      this.context.store.say((error as Error).message, "error");
    }
  }

  /** The walk that goes on, if it is still there. */
  private before(): Result | null {
    const { after } = this.request;
    const { results } = this.context.store.state;
    const key = JSON.stringify(after?.request);
    return (after && results.find((one) => one.answer === (after.answer ?? 1) && JSON.stringify(one.request) === key)) ?? null;
  }

  /** Where the walk that goes on has ended, and which way it went. */
  private anchor(): { point: Point; heading: number } | null {
    const before = this.before();
    if (!before || before.path.length < 2) return null;
    const motion = before.motions[0]!;
    const { heading, point } = at(before.path, length(before.path));
    const place = this.context.stage.jointAt(motion.id, 0, motion.frames - 1);
    return { point: place ? [round(place.x), round(place.z)] : point, heading };
  }

  // -------------------------------------------------------------- what is there

  protected override show(state: State): void {
    const { points } = this;
    const { goals = [], facing_deg = null, after } = this.request;
    this.stretches.set(points, goals);
    this.sketch.set(points, wishesOf(goals, length(points)).wishes, facing_deg === null ? null : (facing_deg * Math.PI) / 180);
    this.element.dataset["drawn"] = String(points.length >= 2);
    this.lead.textContent = this.hint();
    this.note.hidden = !after;
    if (!after) return;
    const from = this.before();
    const name = from ? `“${nameOf(state, from)}”` : "an earlier walk";
    const anew = () => this.edit("Begin anew", (request) => delete request.after);
    fill(this.note, el("span", {}, `Walking on from ${name}.`), button("Begin anew", anew, { kind: "quiet" }));
  }

  protected override sentence(result: Result): string {
    const isAsked = canonical(result.request) === canonical(this.request);
    const drawn = isAsked && this.points.length >= 2 ? `${length(this.points).toFixed(1)} m drawn; ` : "";
    return drawn + super.sentence(result);
  }

  protected override tellAt(where: string, text: string): boolean {
    return this.stretches.fail(where, text) || super.tellAt(where, text);
  }
}

/** Take the goals along when the path is bent. */
function bend(request: FollowRequest, points: Point[]): void {
  const before = request.points ?? [];
  for (const goal of (request.goals ?? []) as LabelGoal[]) {
    for (const name of ["at_m", "start_m", "end_m"] as const) {
      if (goal[name]) goal[name] = carried(goal[name], before, points);
    }
  }
  request.points = points;
}

function set(request: FollowRequest, goals: NonNullable<FollowRequest["goals"]>): void {
  if (goals.length > 0) request.goals = goals;
  else delete request.goals;
}

const degrees = (heading: number): number => Math.round((1800 * heading) / Math.PI) / 10;
const round = (value: number): number => Math.round(1000 * value) / 1000;
