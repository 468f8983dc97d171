/** Follow: draw a path on the floor, and somebody walks it. */

import { RED } from "../colours";
import { button, checkbox, el, fill, menu, numberField, section, select, slider, textField } from "../dom";
import type { FollowAsk, Result } from "../messages";
import type { Context, Overlay, Panel, State } from "../types";
import { asker, canonical } from "./asking";
import { buildOffer } from "./library";
import { at, carried, length, moved, turned, type Point } from "./path";
import { preferences } from "./preferences";
import { Sketch } from "./sketch";
import { stretchEditor } from "./stretches";
import { watch } from "./watch";
import "../panels.css";

const SHAPES = [
  { label: "Line", text: "line:length=10" },
  { label: "Circle", text: "circle:radius=3" },
  { label: "Eight", text: "eight:radius=3" },
  { label: "S", text: "s:radius=3" },
  { label: "Square", text: "square:side=6" },
  { label: "Zig-zag", text: "zigzag:leg=3,legs=4,angle=60" },
  { label: "Spiral", text: "spiral" },
] as const;
/** Milliseconds within which moves of a slider are one step of undo, and one request. */
const SETTLE = 150;

export const follow: Panel = {
  verb: "follow",
  title: "Follow",
  mount(left, context) {
    const panel = new FollowPanel(context);
    left.append(panel.element);
    return panel;
  },
};

class FollowPanel {
  readonly element: HTMLElement;
  private readonly sketch: Sketch;
  private readonly stretches;
  private readonly asker;
  private readonly problem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  private readonly lead = el("p", { class: "lead" });
  private readonly facts = el("p", { class: "quiet-text figures", attrs: { "aria-live": "polite" } });
  private readonly setters: ((ask: FollowAsk) => void)[] = [];
  private readonly errors = new Map<string, (text: string | null) => void>();
  private visible = false;
  /** The request that was last asked or shown. */
  private asked = "";
  private marks: Overlay[] = [];

  constructor(private readonly context: Context) {
    const { store, stage } = context;
    this.asker = asker(context, "follow", {
      busy: (searching) => {
        this.element.dataset["busy"] = String(searching);
        if (searching) this.fail(null);
      },
      refused: ({ error, where }) => this.fail(error, where),
      answered: () => this.fail(null),
    });
    this.stretches = stretchEditor(context, {
      change: (label, stretches) => this.edit(label, (ask) => (ask.stretches = stretches)),
      select: (range) => this.sketch.select(range),
    });
    this.element = this.build();
    this.sketch = new Sketch(stage, {
      anchor: () => this.anchor()?.point ?? null,
      drawn: (points) => this.draw(points, "Draw a path"),
      edited: (points, label) => this.edit(label, (ask) => this.bend(ask, points)),
      faced: (heading) => this.edit("Turn the last look", (ask) => (ask.final_facing = round(heading))),
      stretched: (start, stop) => this.stretches.moved(start, stop),
    });
    watch(store, [(state) => state.document.follow, (state) => state.graph?.labels, (state) => state.document.clips.length], (state) => this.show(state));
    watch(store, [(state) => state.graph?.built_from], () => this.visible && this.askIfNew(true));
    watch(store, [(state) => state.view.shown, (state) => state.results.map((result) => result.id)], (state) => this.showResult(state));
  }

  private get ask(): FollowAsk {
    return this.context.store.state.document.follow;
  }

  hint(): string {
    const { graph, document } = this.context.store.state;
    if (!graph && document.clips.length === 0) return "Drop motion files anywhere on this window, to begin.";
    if (!graph) return "Build the graph first; then draw a path on the floor.";
    if (this.ask.continue_from) return "Draw on from where the figure stands.";
    return this.ask.points.length < 2 ? "Draw a path on the floor." : "Draw again, or drag the handles. The right button turns the camera.";
  }

  onShow(): void {
    this.visible = true;
    this.sketch.show(true);
    this.show(this.context.store.state);
    this.showResult(this.context.store.state);
    // Whoever looked at clips meanwhile comes back to the walk.
    if (this.context.store.state.view.shown[0]?.startsWith("clip:")) this.asked = "";
    this.askIfNew(true);
  }

  onHide(): void {
    this.visible = false;
    this.sketch.show(false);
    for (const mark of this.marks.splice(0)) mark.remove();
  }

  // -------------------------------------------------------------- changes

  private edit(label: string, change: (ask: FollowAsk) => void, options: { fresh?: boolean; settle?: number } = {}): void {
    void this.context.store.change(label, (document) => change(document.follow), options.settle ? { settle: options.settle } : {});
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.askNow(options.fresh ?? false), options.settle ?? 0);
  }

  private timer = 0;

  private askNow(fresh: boolean): void {
    window.clearTimeout(this.timer);
    const { ask } = this;
    this.asked = canonical(ask);
    if (ask.points.length >= 2 && this.context.store.state.graph) this.asker.ask(ask, fresh);
    else this.fail(null);
  }

  /** After undo, a reload or a link: show the answer that is known, or ask for it. */
  private askIfNew(fresh: boolean): void {
    const key = canonical(this.ask);
    if (this.ask.points.length < 2 || !this.context.store.state.graph || key === this.asked) return;
    this.asked = key;
    if (!this.asker.recall(this.ask)) this.asker.ask(this.ask, fresh);
  }

  private draw(points: Point[], label: string): void {
    this.edit(label, (ask) => Object.assign(ask, { points, stretches: [], final_facing: null }), { fresh: true });
  }

  /** Take the stretches along when the path is bent. */
  private bend(ask: FollowAsk, points: Point[]): void {
    for (const wish of ask.stretches) {
      [wish.start, wish.stop] = [carried(wish.start, ask.points, points), carried(wish.stop, ask.points, points)];
    }
    ask.points = points;
  }

  private async shape(text: string): Promise<void> {
    try {
      const drawn = await this.context.api.get<Point[]>(`/api/path?text=${encodeURIComponent(text)}`);
      const from = this.anchor();
      this.draw(from ? turned(moved(drawn, from.point), from.heading) : drawn, `Draw ${text.split(":")[0]}`);
    } catch (error) {
      this.fail((error as Error).message, "shape");
    }
  }

  /** Where the walk that goes on has ended, and which way it went. */
  private anchor(): { point: Point; heading: number } | null {
    const before = this.context.store.state.results.find((result) => result.id === this.ask.continue_from);
    if (!before || before.path.length < 2) return null;
    const motion = before.motions[0]!;
    const { heading, point } = at(before.path, length(before.path));
    const place = this.context.stage.jointAt(motion.id, 0, motion.frames - 1);
    return { point: place ? [round(place.x), round(place.z)] : point, heading };
  }

  // -------------------------------------------------------------- the form

  private build(): HTMLElement {
    const { context, ask } = this;
    const { store } = context;
    const bind = <T>(name: keyof FollowAsk, control: { element: HTMLElement; set(value: T): void; setError(text: string | null): void }) => {
      this.setters.push((now) => control.set(now[name] as T));
      this.errors.set(name, (text) => control.setError(text));
      return control.element;
    };
    const shapes = button("Shapes", () => menu(shapes, SHAPES.map(({ label, text }) => ({ label, run: () => void this.shape(text) }))), { icon: "path" });
    shapes.setAttribute("aria-haspopup", "menu");
    const clear = button("Clear", () => this.edit("Clear the path", (now) => Object.assign(now, { points: [], stretches: [], final_facing: null, continue_from: null })), { kind: "quiet" });
    const named = textField("Shape with its measures", "", (text) => text.trim() && void this.shape(text.trim()), "circle:radius=4,turns=2");
    this.errors.set("shape", named.setError);
    const going = el("div", { class: "note" });
    this.setters.push((now) => {
      const from = store.state.results.find((result) => result.id === now.continue_from);
      going.hidden = now.continue_from === null;
      if (now.continue_from === null) return;
      fill(going, el("span", {}, `Walking on from ${from ? `“${from.name}”` : "an earlier walk"}.`), button("Begin anew", () => this.edit("Begin anew", (next) => (next.continue_from = null)), { kind: "quiet" }));
    });
    const facing = numberField("Look at the end", {
      min: -180, max: 180, step: 5, unit: "°", value: 0, hint: "0 looks along +z, 90 along +x; the arrow on the stage turns it too",
      onChange: (degrees) => this.edit("Turn the last look", (now) => (now.final_facing = (degrees * Math.PI) / 180)),
    });
    const faces = checkbox("Look somewhere at the end", ask.final_facing !== null, (on) => this.edit(on ? "Ask for a last look" : "Drop the last look", (now) => {
      now.final_facing = on && now.points.length > 1 ? round(at(now.points, length(now.points)).heading) : null;
    }));
    this.errors.set("final_facing", facing.setError);
    this.setters.push((now) => {
      faces.set(now.final_facing !== null);
      facing.element.hidden = now.final_facing === null;
      if (now.final_facing !== null) facing.set(Math.round((now.final_facing * 180) / Math.PI));
    });
    const preset = select<string>("Anticipation", store.state.presets.map((name) => ({ value: name, label: name })), ask.preset, (name) => this.edit("Change anticipation", (now) => (now.preset = name)), "Which parts of the body change over first");
    this.setters.push((now) => (preset.element.hidden = now.blend !== "anticipation"));
    const blend = select<FollowAsk["blend"]>(
      "Blend",
      (["linear", "cubic", "anticipation"] as const).map((value) => ({ value, label: value })),
      ask.blend,
      (value) => this.edit("Change the blend", (now) => Object.assign(now, { blend: value, preset: value === "anticipation" ? now.preset : "even" })),
      "How one clip flows into the next",
    );
    const count = numberField("Candidates", { min: 1, max: 12, step: 1, value: ask.count, hint: "How many different walks to find", onChange: (value) => this.edit("Change the count", (now) => (now.count = Math.round(value))) });
    const seed = numberField("Seed", { min: 0, max: 2 ** 31, step: 1, value: ask.seed, hint: "Same seed, same walk", onChange: (value) => this.edit("Change the seed", (now) => (now.seed = Math.round(value))) });
    const prefer = preferences(context, (label, change) => this.edit(label, change, { settle: SETTLE }));
    this.setters.push((now) => prefer.set(now));
    return el(
      "div",
      {},
      buildOffer(context),
      section(
        "Path", null,
        this.lead,
        going,
        el("div", { class: "row" }, shapes, clear),
        this.facts,
        this.problem,
        bind<number>("smooth_m", slider("Smooth", {
          min: 0, max: 2, step: 0.05, value: ask.smooth_m, format: (value) => `${value.toFixed(2)} m`, hint: "Wiggles shorter than this are taken out",
          onInput: (value) => this.edit("Smooth the path", (now) => (now.smooth_m = value), { settle: SETTLE }),
        })),
        faces.element, facing.element,
      ),
      section("Along the way", null, this.stretches.element),
      section("Motion", null, bind("blend", blend), bind("preset", preset), bind("clean", checkbox("Keep planted feet still", ask.clean, (on) => this.edit("Change foot cleaning", (now) => (now.clean = on))))),
      section("Choice", null, el("div", { class: "pair" }, bind("count", count), bind("seed", seed)), button("Another walk", () => this.edit("Try another seed", (now) => (now.seed += now.count)), { title: "The same path with another seed" })),
      section("Preferences", "closed", prefer.element),
      section("More shapes", "closed", named.element),
    );
  }

  private fail(text: string | null, where: string | null = null): void {
    for (const setError of this.errors.values()) setError(null);
    const field = where === null ? undefined : this.errors.get(where.split(".")[0]!);
    if (text !== null && field) field(text);
    this.problem.hidden = text === null || field !== undefined;
    this.problem.textContent = text;
  }

  // -------------------------------------------------------------- what is there

  private show(state: State): void {
    const ask = state.document.follow;
    for (const set of this.setters) set(ask);
    this.stretches.set(ask.points, ask.stretches);
    this.sketch.set(ask.points, ask.stretches, ask.final_facing);
    this.element.dataset["drawn"] = String(ask.points.length >= 2);
    this.facts.textContent = ask.points.length >= 2 ? `${length(ask.points).toFixed(1)} m drawn` : "";
    this.lead.textContent = this.hint();
    this.context.refreshHint();
    // Undone, redone or opened from a link; a change made in another tab is answered there.
    if (this.visible && document.hasFocus()) this.askIfNew(false);
  }

  /** Figures of the walk on the stage, and red where it could not be had. */
  private showResult(state: State): void {
    for (const mark of this.marks.splice(0)) mark.remove();
    const shown = state.results.find((result: Result) => result.verb === "follow" && result.motions.some(({ id }) => id === state.view.shown[0]));
    if (!this.visible || !shown) return;
    const { mean_cm, worst_cm, total_ms } = shown.figures;
    const drawn = `${length(state.document.follow.points).toFixed(1)} m drawn`;
    if (mean_cm !== null && worst_cm !== null) {
      this.facts.textContent = `${drawn}; ${mean_cm.toFixed(1)} cm off on average, ${worst_cm.toFixed(1)} cm at most; ${(total_ms / 1000).toFixed(2)} s`;
    }
    for (const { text, place, distance_m } of shown.problems) {
      if (!place) continue;
      const left = distance_m !== null ? `${distance_m.toFixed(1)} m left` : text;
      this.marks.push(this.context.stage.addSphere(place, { colour: RED, radius: 0.09 }), this.context.stage.addText([place[0], 0.3, place[2]], left, RED));
    }
  }
}

const round = (value: number): number => Math.round(1000 * value) / 1000;
