/** Faces: expressions by sliders or from recordings, landmarks dragged in the view; the most likely face follows. */

import { button, el, section, select, slider } from "../dom";
import type { FaceFacts, FaceRequest, FaceSurface, LandmarkGoal, PoseGoal, Result, ShapeGoal, VerbFacts } from "../messages";
import { Dragging } from "../panels/dragging";
import { outputButtons } from "../panels/outputs";
import { jobStrip } from "../panels/progress";
import { fileButton, VerbPanel } from "../panels/verb";
import { refill } from "../panels/watch";
import { HeadView, shapeKey } from "../stage/head";
import type { Context, Panel, State } from "../types";
import "./face.css";

const LENGTH_S = 2;
const SETTLE = 200;
const SIMPLE = "simple head";

type FaceGoal = ShapeGoal | PoseGoal | LandmarkGoal;
/** The weights that are shown, a row for each frame. */
interface Shown {
  of: string;
  shapes: readonly string[];
  fps: number;
  frames: number;
  values: Float32Array;
}

export const panel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const made = new FacePanel(context, verb);
    left.append(made.element);
    return made;
  },
});

const rounded = (value: number): number => Math.round(value * 1000) / 1000;
const goalsOf = (request: FaceRequest): FaceGoal[] => (request.goals ?? []) as FaceGoal[];
const lengthOf = (request: FaceRequest): number => request.duration_s ?? LENGTH_S;
const isLandmark = (goal: FaceGoal): goal is LandmarkGoal => "landmark" in goal;
const timeOf = (goal: FaceGoal): number => goal.at_s ?? goal.start_s ?? 0;
const isAt = (goal: FaceGoal, at_s: number): boolean => Math.abs(timeOf(goal) - at_s) < 1e-3;

class FacePanel extends VerbPanel<FaceRequest> {
  private readonly view = new HeadView({ drag: (landmark, at, done) => this.drag(landmark, at, done) });
  private readonly scrub = el("input", { attrs: { type: "range", min: 0, max: 1000, step: 1, value: 0, "aria-label": "Time of the face" } });
  private readonly clock = el("span", { class: "figures" });
  private readonly play = button("Play", () => this.setPlaying(!this.playing), { kind: "quiet" });
  private readonly over = el("div", { class: "face-view", hidden: true });
  private readonly keyList = el("ul", { class: "keys", attrs: { "aria-label": "Keys" } });
  private readonly pointList = el("ul", { class: "keys", attrs: { "aria-label": "Points" } });
  private readonly faceList = el("ul", { class: "keys", attrs: { "aria-label": "Recordings" } });
  private readonly headBox = el("div");
  private readonly shapeBox = el("div", { class: "shapes" });
  private readonly sliders = new Map<string, { set(value: number): void }>();
  private readonly dragging: Dragging<FaceRequest>;
  private readonly length;
  private readonly outputs;
  private faces: readonly FaceFacts[] = [];
  /** File of the head in the view. */
  private head = "";
  private shown: Shown | null = null;
  private at = 0;
  private playing = false;
  private began = 0;
  private ticking = 0;

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb, {}, { duration_s: LENGTH_S });
    this.dragging = new Dragging(context, verb.name, this.asker);
    this.outputs = outputButtons(context, verb, () => this.resultOnStage());
    this.length = slider("Duration", {
      min: 0.5,
      max: 20,
      step: 0.1,
      value: LENGTH_S,
      format: (value) => `${value.toFixed(1)} s`,
      onInput: (value) => this.change("Change the face's duration", (request) => (request.duration_s = value), SETTLE),
    });
    const file = el("input", { attrs: { type: "file", accept: ".csv,.glb", hidden: "", "aria-label": "A face or a head" } });
    file.addEventListener("change", () => file.files?.[0] && void this.add(file.files[0]));
    this.element.append(
      section("Goals", null, this.length.element,
        el("div", { class: "placing" },
          button("Key here", () => this.addKey(), { title: "A whole face at this time: the one that is shown, to be changed by sliders" }),
          fileButton(context, verb, () => this.request)),
        jobStrip(context, [verb.name]), this.problems, this.keyList, this.pointList),
      section("Shapes at this time", "open", this.shapeBox),
      section("Recordings and heads", "open", this.faceList, this.headBox,
        el("div", { class: "row" }, button("Add a file …", () => file.click()), file)),
      section("Files", null, this.facts, this.outputs.element),
    );
    this.over.append(this.view.canvas, el("div", { class: "time" }, this.play, this.scrub, this.clock));
    context.stage.element.append(this.over);
    this.scrub.addEventListener("input", () => {
      this.setPlaying(false);
      this.seek((Number(this.scrub.value) / 1000) * lengthOf(this.request));
    });
    void this.load();
    if (window.choreograph) window.choreograph.parts["face"] = this.view;
  }

  override hint(): string {
    return this.ready(this.request) ? "Drag a landmark, or move a slider: the face follows." : "Drag a landmark, move a slider, or add a key.";
  }

  override onShow(): void {
    super.onShow();
    this.over.hidden = false;
    this.view.draw();
  }

  override onHide(): void {
    super.onHide();
    this.setPlaying(false);
    this.over.hidden = true;
  }

  protected override ready(request: FaceRequest): boolean {
    return goalsOf(request).length > 0;
  }

  /** There is always a face to learn from. */
  protected override hasSubject(): boolean {
    return true;
  }

  /** The panel has no field for each goal: problems are listed. */
  protected override tellAt(): boolean {
    return false;
  }

  protected override sentence(result: Result): string {
    const names = (result.details["learned_from"] as string[] | undefined) ?? [];
    return `${names.length > 0 ? `Learned from ${names.join(", ")}; ` : ""}${super.sentence(result)}`;
  }

  private change(label: string, change: (request: FaceRequest) => void, settle = 0): void {
    this.edit(label, (request) => {
      request.duration_s ??= LENGTH_S;
      change(request);
      const length = lengthOf(request);
      request.goals = goalsOf(request).filter((goal) => (goal.end_s ?? timeOf(goal)) <= length).sort((a, b) => timeOf(a) - timeOf(b));
    }, { settle });
  }

  // -------------------------------------------------------------- goals

  /** The time that is shown, at a whole frame. */
  private now(): number {
    const fps = this.shown?.fps ?? 30;
    return rounded(Math.round(this.at * fps) / fps);
  }

  private row(at: number): Float32Array {
    const { shapes, fps, frames, values } = this.shown!;
    const row = Math.min(Math.round(at * fps), frames - 1) * shapes.length;
    return values.subarray(row, row + shapes.length);
  }

  private weightsNow(): Record<string, number> {
    if (!this.shown) return {};
    const row = this.row(this.at);
    const pairs = this.shown.shapes.map((shape, s) => [shape, Math.min(rounded(row[s] ?? 0), 1)] as const);
    return Object.fromEntries(pairs.filter(([, value]) => value > 0.001));
  }

  /** A key in place of any that is there at this time. */
  private putKey(label: string, make: (known: FaceGoal | undefined, at_s: number) => FaceGoal, settle = 0): void {
    const at_s = this.now();
    this.change(label, (request) => {
      const isKey = (goal: FaceGoal) => !isLandmark(goal) && isAt(goal, at_s);
      const goals = goalsOf(request);
      request.goals = [...goals.filter((goal) => !isKey(goal)), make(goals.find(isKey), at_s)];
    }, settle);
  }

  private addKey(change: Record<string, number> = {}, settle = 0): void {
    const here = this.weightsNow();
    this.putKey("Set a key of the face", (known, at_s) => ({ at_s, shapes: { ...(known && "shapes" in known ? known.shapes : here), ...change } }), settle);
  }

  private drag(landmark: number, position: [number, number, number], done: boolean): void {
    const at_s = this.now();
    const put = (request: FaceRequest) => {
      const others = goalsOf(request).filter((goal) => !(isLandmark(goal) && goal.landmark === landmark && isAt(goal, at_s)));
      request.goals = [...others, { at_s, landmark, position_mm: position.map((value) => Math.round(value * 10) / 10) as [number, number, number] }];
    };
    if (done) {
      this.dragging.end();
      return this.change("Drag a landmark", put);
    }
    const tried = structuredClone(this.request);
    put(tried);
    this.dragging.ask(tried);
  }

  protected override show(): void {
    const goals = goalsOf(this.request);
    this.length.set(lengthOf(this.request));
    const line = (text: string, name: string, goal: FaceGoal) =>
      el("li", { class: "row" },
        button(text, () => this.seek(timeOf(goal)), { kind: "quiet" }),
        button(`Remove ${name}`, () => this.change(`Remove ${name}`, (request) => (request.goals = goalsOf(request).filter((_, n) => n !== goals.indexOf(goal)))), { icon: "close", iconOnly: true, kind: "quiet" }));
    const time = (goal: FaceGoal) => `at ${timeOf(goal).toFixed(2)} s`;
    refill(this.keyList, ...goals.filter((goal) => !isLandmark(goal)).map((goal, n) => line(`Key ${time(goal)}`, `key ${n + 1}`, goal)));
    refill(this.pointList, ...goals.filter(isLandmark).map((goal, n) => line(`Landmark ${goal.landmark} ${time(goal)}`, `point ${n + 1}`, goal)));
    this.showHead();
    this.seek(Math.min(this.at, lengthOf(this.request)));
  }

  // -------------------------------------------------------------- answers

  protected override showResult(state: State): void {
    super.showResult(state);
    this.outputs.update();
    const motion = this.visible ? this.resultOnStage(state)?.motions[0] : undefined;
    if (!motion || motion.id === this.shown?.of) return;
    void this.context.api.frames(motion.id).then((values) => {
      if (this.resultOnStage()?.motions[0]?.id !== motion.id) return; // another one has come meanwhile
      this.shown = { of: motion.id, shapes: motion.joints, fps: motion.fps, frames: motion.frames, values };
      this.seek(this.at);
    }, (error: Error) => this.context.store.say(error.message, "error"));
  }

  private seek(at: number): void {
    this.at = at;
    this.scrub.value = String(Math.round((1000 * at) / lengthOf(this.request)));
    this.clock.textContent = `${at.toFixed(2)} s`;
    this.view.mark(goalsOf(this.request).flatMap((goal) => (isLandmark(goal) && Math.abs(timeOf(goal) - at) < 0.02 ? [goal.landmark] : [])));
    if (!this.shown) return;
    const weights = this.row(at);
    this.view.setWeights(this.shown.shapes, weights);
    if (!this.playing) this.shown.shapes.forEach((shape, s) => this.sliders.get(shapeKey(shape))?.set(weights[s] ?? 0));
  }

  private setPlaying(playing: boolean): void {
    this.playing = playing && this.shown !== null;
    this.play.textContent = this.playing ? "Pause" : "Play";
    window.cancelAnimationFrame(this.ticking);
    if (!this.playing) return;
    this.began = performance.now() - 1000 * this.at;
    const tick = () => {
      this.seek(((performance.now() - this.began) / 1000) % lengthOf(this.request));
      if (this.playing) this.ticking = window.requestAnimationFrame(tick);
    };
    tick();
  }

  // -------------------------------------------------------------- files

  private async load(): Promise<void> {
    const { api } = this.context;
    const surface = await api.get<FaceSurface>("/api/faces/surface");
    for (const shape of surface.shapes) {
      const made = slider(shape, {
        min: 0,
        max: 1,
        step: 0.01,
        value: 0,
        onInput: (value) => this.addKey({ [shape]: value }, SETTLE),
      });
      this.sliders.set(shapeKey(shape), made);
      this.shapeBox.append(made.element);
    }
    this.view.setSurface(surface);
    this.setFaces(await api.get<FaceFacts[]>("/api/faces"));
    this.seek(this.at);
    document.body.dataset["face"] = "ready";
  }

  private setFaces(faces: readonly FaceFacts[]): void {
    this.faces = faces;
    const row = ({ name, clip, frames, fps, notes }: FaceFacts) => {
      const frame = el("input", { class: "typed", attrs: { type: "number", min: 0, max: frames - 1, value: 0, "aria-label": `Frame of ${name}` } });
      const chosen = () => Math.min(Math.max(Math.round(Number(frame.value)), 0), frames - 1);
      const take = () => this.putKey("Take a key from a recording", (_, at_s) => ({ at_s, pose: { clip, frame: chosen() } }));
      return el("li", { class: "row", attrs: { title: notes.join("; ") } },
        el("span", {}, `${name}, ${(frames / fps).toFixed(1)} s`), frame,
        button("Key", take, { kind: "quiet", title: "This frame of it as a key at the time that is shown" }));
    };
    refill(this.faceList, ...faces.filter(({ frames }) => frames > 0).map(row));
    this.showHead();
  }

  /** The head of the request: in the list, and in the view. */
  private showHead(): void {
    const heads = this.faces.filter(({ head }) => head);
    const own = heads.find(({ file }) => file === this.request.head)?.name ?? SIMPLE;
    const choice = select("Head", [SIMPLE, ...heads.map(({ name }) => name)].map((name) => ({ value: name, label: name })), own, (name) => this.setHead(name));
    refill(this.headBox, choice.element);
    const file = own === SIMPLE ? "" : own;
    if (file === this.head) return;
    this.head = file;
    const query = file ? `?name=${encodeURIComponent(file)}` : "";
    void this.context.api.get<FaceSurface>(`/api/faces/surface${query}`).then((surface) => {
      if (this.head !== file) return;
      this.view.setSurface(surface);
      this.seek(this.at);
    }, (error: Error) => this.context.store.say(error.message, "error"));
  }

  private setHead(name: string): void {
    const file = this.faces.find((one) => one.head && one.name === name)?.file;
    this.change("Choose a head", (request) => {
      if (file) request.head = file;
      else delete request.head;
    });
  }

  private async add(file: File): Promise<void> {
    const { api, store } = this.context;
    try {
      const data = new Uint8Array(await file.arrayBuffer());
      let text = "";
      for (let k = 0; k < data.length; k += 8192) text += String.fromCharCode(...data.subarray(k, k + 8192));
      this.setFaces(await api.send<FaceFacts[]>("POST", "/api/faces", { name: file.name, data: btoa(text) }));
      store.say(`Added ${file.name}.`, "done");
      this.askNow();
    } catch (error) {
      store.say((error as Error).message, "error");
    }
  }
}
