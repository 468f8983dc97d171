/** Dynamics: what any motion does to the body that makes it, on the stage, over time and as files. */

import { el, section } from "../dom";
import type { DynamicsRequest, VerbFacts } from "../messages";
import { forceChart } from "../panels/forcechart";
import { MechanicsLayer } from "../panels/mechanics";
import { outputButtons } from "../panels/outputs";
import { jobStrip } from "../panels/progress";
import { subjectChooser } from "../panels/subject";
import { fileButton, VerbPanel } from "../panels/verb";
import type { Context, Panel, State } from "../types";
import "./dynamics.css";

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new DynamicsPanel(context, verb);
    left.append(made.element);
    return made;
  },
});

class DynamicsPanel extends VerbPanel<DynamicsRequest> {
  private readonly layer: MechanicsLayer;
  private readonly chart;
  private readonly outputs;

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb);
    const { player } = context.stage;
    this.chart = forceChart((seconds) => player.seek(seconds * player.fps));
    this.layer = new MechanicsLayer(context, (mechanics) => this.chart.set(mechanics));
    this.outputs = outputButtons(context, verb, () => this.resultOnStage());
    this.element.append(
      section(
        "Motion",
        null,
        el("p", { class: "lead" }, "Choose a clip or a result: its centre of mass, ground forces and torques are measured."),
        subjectChooser(context, verb.name),
        el("div", { class: "row" }, this.askButton("Measure"), fileButton(context, verb, () => this.request)),
        jobStrip(context, [verb.name]),
        this.problems,
      ),
      section("On the stage", null, this.layer.element),
      section("Ground forces", null, this.chart.element, this.facts),
      section("Files", null, this.outputs.element),
      section("Body and filter", "open", this.form.element),
    );
    player.subscribe(({ frame, fps }) => this.visible && this.chart.setTime(frame / fps));
  }

  override hint(): string {
    return this.ready() ? "Arrows are ground forces, colours on the figure torques." : "Choose a clip or a result to measure.";
  }

  override onShow(): void {
    super.onShow();
    this.layer.show(true);
  }

  override onHide(): void {
    super.onHide();
    this.layer.show(false);
  }

  protected override ready(): boolean {
    return this.context.store.state.document.subjects[this.verb.name] !== undefined;
  }

  protected override showResult(state: State): void {
    super.showResult(state);
    this.layer.set(this.visible ? this.resultOnStage(state) : null);
    this.outputs.update();
  }
}
