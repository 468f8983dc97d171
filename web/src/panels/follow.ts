/** Follow: draw a path on the floor, and somebody walks it. */

import { RED } from "../colours";
import type { FollowAsk, Result } from "../messages";
import type { Context, Overlay, Panel, State } from "../types";
import { asker, canonical } from "./asking";
import { type FollowForm, followForm } from "./followform";
import { at, carried, length, moved, type Point, turned } from "./path";
import { Sketch } from "./sketch";
import { stretchEditor } from "./stretches";
import { watch } from "./watch";
import "../panels.css";

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
  private readonly form: FollowForm;
  private visible = false;
  /** The request that was last asked or shown. */
  private asked = "";
  private marks: Overlay[] = [];

  constructor(private readonly context: Context) {
    const { store, stage } = context;
    this.asker = asker(context, "follow", {
      busy: (searching) => {
        this.element.dataset["busy"] = String(searching);
        if (searching) this.form.fail(null);
      },
      refused: ({ error, where }) => this.form.fail(error, where),
      answered: () => this.form.fail(null),
    });
    this.stretches = stretchEditor(context, {
      change: (label, stretches) => this.edit(label, (ask) => (ask.stretches = stretches)),
      select: (range) => this.sketch.select(range),
    });
    this.form = followForm(context, {
      edit: (label, change, settle) => this.edit(label, change, settle ? { settle } : {}),
      shape: (text) => void this.shape(text),
      stretches: this.stretches.element,
    });
    this.element = this.form.element;
    this.sketch = new Sketch(stage, {
      anchor: () => this.anchor()?.point ?? null,
      drawn: (points) => this.draw(points, "Draw a path"),
      edited: (points, label) => this.edit(label, (ask) => this.bend(ask, points)),
      faced: (heading) => this.edit("Turn the last look", (ask) => (ask.final_facing = round(heading))),
      stretched: (start, stop) => this.stretches.moved(start, stop),
    });
    watch(store, [
      (state) => state.document.follow,
      (state) => state.graph?.labels,
      (state) => state.document.clips.length,
    ], (state) => this.show(state));
    watch(store, [(state) => state.graph?.built_from], () => this.visible && this.askIfNew(true));
    watch(
      store,
      [(state) => state.view.shown, (state) => state.results.map((result) => result.id)],
      (state) => this.showResult(state),
    );
  }

  private get ask(): FollowAsk {
    return this.context.store.state.document.follow;
  }

  hint(): string {
    const { graph, document } = this.context.store.state;
    if (!graph && document.clips.length === 0) return "Drop motion files anywhere on this window, to begin.";
    if (!graph) return "Build the graph first; then draw a path on the floor.";
    if (this.ask.continue_from) return "Draw on from where the figure stands.";
    return this.ask.points.length < 2
      ? "Draw a path on the floor."
      : "Draw again, or drag the handles. The right button turns the camera.";
  }

  onShow(): void {
    this.visible = true;
    this.sketch.show(true);
    this.show(this.context.store.state);
    this.showResult(this.context.store.state);
    // Whoever looked at something else meanwhile comes back to the walk.
    if (!this.asker.isShown()) this.asked = "";
    this.askIfNew(true);
  }

  onHide(): void {
    this.visible = false;
    this.sketch.show(false);
    for (const mark of this.marks.splice(0)) mark.remove();
  }

  // -------------------------------------------------------------- changes

  private edit(
    label: string,
    change: (ask: FollowAsk) => void,
    options: { fresh?: boolean; settle?: number } = {},
  ): void {
    void this.context.store.change(
      label,
      (document) => change(document.follow),
      options.settle ? { settle: options.settle } : {},
    );
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.askNow(options.fresh ?? false), options.settle ?? 0);
  }

  private timer = 0;

  private askNow(fresh: boolean): void {
    window.clearTimeout(this.timer);
    const { ask } = this;
    this.asked = canonical(ask);
    if (ask.points.length >= 2 && this.context.store.state.graph) this.asker.ask(ask, fresh);
    else this.form.fail(null);
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
      this.form.fail((error as Error).message, "shape");
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

  // -------------------------------------------------------------- what is there

  private show(state: State): void {
    const ask = state.document.follow;
    this.form.set(ask);
    this.stretches.set(ask.points, ask.stretches);
    this.sketch.set(ask.points, ask.stretches, ask.final_facing);
    this.element.dataset["drawn"] = String(ask.points.length >= 2);
    this.form.facts.textContent = ask.points.length >= 2 ? `${length(ask.points).toFixed(1)} m drawn` : "";
    this.form.lead.textContent = this.hint();
    this.context.refreshHint();
    // Undone, redone or opened from a link; a change made in another tab is answered there.
    if (this.visible && document.hasFocus()) this.askIfNew(false);
  }

  /** Figures of the walk on the stage, and red where it could not be had. */
  private showResult(state: State): void {
    for (const mark of this.marks.splice(0)) mark.remove();
    const shown = state.results.find((result: Result) =>
      result.verb === "follow" && result.motions.some(({ id }) => id === state.view.shown[0])
    );
    if (!this.visible || !shown) return;
    const { mean_cm, worst_cm, total_ms } = shown.figures;
    const drawn = `${length(state.document.follow.points).toFixed(1)} m drawn`;
    if (mean_cm !== null && worst_cm !== null) {
      this.form.facts.textContent = `${drawn}; ${mean_cm.toFixed(1)} cm off on average, ${
        worst_cm.toFixed(1)
      } cm at most; ${(total_ms / 1000).toFixed(2)} s`;
    }
    for (const { text, place, distance_m } of shown.problems) {
      if (!place) continue;
      const left = distance_m !== null ? `${distance_m.toFixed(1)} m left` : text;
      this.marks.push(
        this.context.stage.addSphere(place, { colour: RED, radius: 0.09 }),
        this.context.stage.addText([place[0], 0.3, place[2]], left, RED),
      );
    }
  }
}

const round = (value: number): number => Math.round(1000 * value) / 1000;
