/** Faces: keys by sliders or from recordings, landmarks dragged in the view; the most likely face follows. */

import { button, el, section, select, slider } from "../dom";
import type { FaceAnswer, FaceFacts, FaceSurface, FaceWeights, Plain } from "../messages";
import { floats, HeadView, shapeKey } from "../stage/head";
import type { Context, Panel, PanelHandle } from "../types";
import { refill, watch } from "./watch";
import "../panels.css";
import "./face.css";

const LENGTH_S = 2;
const SETTLE = 200;
const SIMPLE = "simple head";

interface Key {
  at_s: number;
  weights?: Record<string, number>;
  clip?: string;
  frame?: number;
}
interface Point {
  at_s: number;
  landmark: number;
  position: [number, number, number];
}
interface FaceDraft {
  length_s: number;
  keys?: Key[];
  points?: Point[];
}

export const face: Panel = {
  verb: "face",
  title: "Face",
  mount: (left, context) => new FacePanel(left, context),
};

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

class FacePanel implements PanelHandle {
  private readonly view = new HeadView({ drag: (landmark, at, done) => this.drag(landmark, at, done) });
  private readonly scrub = el("input", { attrs: { type: "range", min: 0, max: 1000, step: 1, value: 0, "aria-label": "Time of the face" } });
  private readonly clock = el("span", { class: "figures" });
  private readonly play = button("Play", () => this.setPlaying(!this.playing), { kind: "quiet" });
  private readonly over = el("div", { class: "face-view", hidden: true });
  private readonly keyList = el("ul", { class: "keys", attrs: { "aria-label": "Keys" } });
  private readonly pointList = el("ul", { class: "keys", attrs: { "aria-label": "Points" } });
  private readonly faceList = el("ul", { class: "keys", attrs: { "aria-label": "Recordings" } });
  private readonly headBox = el("div");
  private readonly said = el("p", { class: "quiet-text figures", attrs: { "aria-live": "polite" } });
  private readonly problems = el("ul", { class: "told", attrs: { "aria-live": "polite" } });
  private readonly shapeBox = el("div", { class: "shapes" });
  private readonly sliders = new Map<string, { set(value: number): void }>();
  private readonly length;
  private head: string | null = null;
  private shown: FaceWeights | null = null;
  private values = new Float32Array();
  private at = 0;
  private playing = false;
  private began = 0;
  private timer = 0;
  private busy = false;
  private waiting: FaceDraft | null = null;

  constructor(
    left: HTMLElement,
    private readonly context: Context,
  ) {
    this.length = slider("Length", {
      min: 0.5,
      max: 20,
      step: 0.1,
      value: LENGTH_S,
      format: (value) => `${value.toFixed(1)} s`,
      onInput: (value) => this.edit("Change the face's length", (draft) => (draft.length_s = value), SETTLE),
    });
    const file = el("input", { attrs: { type: "file", accept: ".csv,.glb", hidden: "", "aria-label": "A face or a head" } });
    file.addEventListener("change", () => file.files?.[0] && void this.add(file.files[0]));
    left.append(
      section("Goals", null, this.length.element,
        el("div", { class: "placing" },
          button("Key here", () => this.addKey(), { title: "A whole face at this time: the one that is shown, to be changed by sliders" })),
        this.problems, this.keyList, this.pointList),
      section("Shapes at this time", "open", this.shapeBox),
      section("Recordings and heads", "open", this.faceList, this.headBox,
        el("div", { class: "row" }, button("Add a file …", () => file.click()), file)),
      section("Face", null, this.said,
        el("div", { class: "row" },
          button("Save CSV", () => void this.save("csv"), { kind: "quiet" }),
          button("Save GLB", () => void this.save("glb"), { kind: "quiet" }))),
    );
    this.over.append(this.view.canvas, el("div", { class: "time" }, this.play, this.scrub, this.clock));
    context.stage.element.append(this.over);
    this.scrub.addEventListener("input", () => {
      this.setPlaying(false);
      this.seek((Number(this.scrub.value) / 1000) * this.draft.length_s);
    });
    watch(context.store, [(state) => state.document.requests["face"]], () => this.changed());
    void this.load();
    if (window.choreograph) window.choreograph.parts["face"] = this.view;
  }

  hint(): string {
    return this.asks() ? "Drag a landmark, or move a slider: the face follows." : "Drag a landmark, move a slider, or add a key.";
  }

  onShow(): void {
    this.over.hidden = false;
    this.view.draw();
  }

  onHide(): void {
    this.setPlaying(false);
    this.over.hidden = true;
  }

  private get draft(): FaceDraft {
    return (this.context.store.state.document.requests["face"] ?? { length_s: LENGTH_S }) as unknown as FaceDraft;
  }

  private asks(): boolean {
    return (this.draft.keys?.length ?? 0) + (this.draft.points?.length ?? 0) > 0;
  }

  private edit(label: string, change: (draft: FaceDraft) => void, settle = 0): void {
    void this.context.store.change(
      label,
      ({ requests }) => {
        const draft = (requests["face"] ??= { length_s: LENGTH_S }) as unknown as FaceDraft;
        change(draft);
        draft.keys = (draft.keys ?? []).filter(({ at_s }) => at_s <= draft.length_s).sort((a, b) => a.at_s - b.at_s);
        draft.points = (draft.points ?? []).filter(({ at_s }) => at_s <= draft.length_s);
      },
      settle ? { settle } : {},
    );
  }

  // -------------------------------------------------------------- goals

  /** The time that is shown, at a whole frame. */
  private now(): number {
    const fps = this.shown?.fps ?? 30;
    return rounded(Math.round(this.at * fps) / fps);
  }

  private weightsNow(): Record<string, number> {
    const found: Record<string, number> = {};
    if (!this.shown) return found;
    const { shapes, fps, frames } = this.shown;
    const row = Math.min(Math.round(this.at * fps), frames - 1) * shapes.length;
    shapes.forEach((shape, s) => {
      const value = rounded(this.values[row + s] ?? 0);
      if (value > 0.001) found[shape] = Math.min(value, 1);
    });
    return found;
  }

  private addKey(change: Record<string, number> = {}, settle = 0): void {
    const [at_s, here] = [this.now(), this.weightsNow()];
    this.edit(
      "Set a key of the face",
      (draft) => {
        const keys = (draft.keys ??= []);
        let key = keys.find((one) => Math.abs(one.at_s - at_s) < 1e-3);
        if (!key) keys.push((key = { at_s, weights: here }));
        key.weights = { ...(key.weights ?? here), ...change };
        delete key.clip;
        delete key.frame;
      },
      settle,
    );
  }

  /** A recorded face as a key at this time. */
  private takeKey(name: string, frame: number): void {
    const at_s = this.now();
    this.edit("Take a key from a recording", (draft) => {
      const others = (draft.keys ?? []).filter((one) => Math.abs(one.at_s - at_s) >= 1e-3);
      draft.keys = [...others, { at_s, clip: name.replace(/\.(csv|glb)$/i, ""), frame }];
    });
  }

  private drag(landmark: number, position: [number, number, number], done: boolean): void {
    const at_s = this.now();
    const put = (draft: FaceDraft) => {
      const points = (draft.points ??= []);
      const known = points.find((one) => one.landmark === landmark && Math.abs(one.at_s - at_s) < 1e-3);
      const where = position.map((value) => Math.round(value * 10) / 10) as [number, number, number];
      if (known) known.position = where;
      else points.push({ at_s, landmark, position: where });
    };
    if (done) return this.edit("Drag a landmark", put);
    const tried = structuredClone(this.draft);
    put(tried);
    this.ask(tried);
  }

  // -------------------------------------------------------------- answers

  private changed(): void {
    const { length_s, keys = [], points = [] } = this.draft;
    this.length.set(length_s);
    const line = (text: string, name: string, at: number, remove: (draft: FaceDraft) => void) =>
      el("li", { class: "row" },
        button(text, () => this.seek(at), { kind: "quiet" }),
        button(`Remove ${name}`, () => this.edit(`Remove ${name}`, remove), { icon: "close", iconOnly: true, kind: "quiet" }));
    refill(this.keyList, ...keys.map((key, n) =>
      line(`Key at ${key.at_s.toFixed(2)} s`, `key ${n + 1}`, key.at_s, (draft) => draft.keys?.splice(n, 1))));
    refill(this.pointList, ...points.map((point, n) =>
      line(`Landmark ${point.landmark} at ${point.at_s.toFixed(2)} s`, `point ${n + 1}`, point.at_s, (draft) => draft.points?.splice(n, 1))));
    this.seek(Math.min(this.at, length_s));
    this.ask(structuredClone(this.draft));
    this.context.refreshHint();
  }

  /** One request at a time; of those that wait, the last. */
  private ask(draft: FaceDraft): void {
    if ((draft.keys?.length ?? 0) + (draft.points?.length ?? 0) === 0) return;
    if (this.busy) {
      this.waiting = draft;
      return;
    }
    this.busy = true;
    void this.context.api
      .send<FaceAnswer>("POST", "/api/faces/complete", { request: draft as unknown as Plain })
      .then((answer) => this.show(answer), (error: Error) => this.tell([error.message]))
      .finally(() => {
        this.busy = false;
        const next = this.waiting;
        this.waiting = null;
        if (next) this.ask(next);
      });
  }

  private tell(texts: readonly string[]): void {
    refill(this.problems, ...texts.map((text) => el("li", {}, text)));
  }

  private show(answer: FaceAnswer): void {
    [this.shown, this.values] = [answer.face, floats(answer.face.weights)];
    this.tell(answer.problems.map(({ text }) => text));
    this.said.textContent =
      `Learned from ${answer.learned_from.join(", ")}; a step of the model is ${answer.step_mm.toFixed(2)} mm off. ` +
      `Completed in ${Math.round(1000 * answer.seconds)} ms.`;
    this.seek(this.at);
  }

  private seek(at: number): void {
    this.at = at;
    const { length_s, points = [] } = this.draft;
    this.scrub.value = String(Math.round((1000 * at) / length_s));
    this.clock.textContent = `${at.toFixed(2)} s`;
    this.view.mark(points.filter(({ at_s }) => Math.abs(at_s - at) < 0.02).map(({ landmark }) => landmark));
    if (!this.shown) return;
    const { shapes, fps, frames } = this.shown;
    const row = Math.min(Math.round(at * fps), frames - 1) * shapes.length;
    const weights = this.values.subarray(row, row + shapes.length);
    this.view.setWeights(shapes, weights);
    if (!this.playing) shapes.forEach((shape, s) => this.sliders.get(shapeKey(shape))?.set(weights[s] ?? 0));
  }

  private setPlaying(playing: boolean): void {
    this.playing = playing && this.shown !== null;
    this.play.textContent = this.playing ? "Pause" : "Play";
    window.cancelAnimationFrame(this.timer);
    if (!this.playing) return;
    this.began = performance.now() - 1000 * this.at;
    const tick = () => {
      this.seek(((performance.now() - this.began) / 1000) % this.draft.length_s);
      if (this.playing) this.timer = window.requestAnimationFrame(tick);
    };
    tick();
  }

  // -------------------------------------------------------------- files

  private async load(): Promise<void> {
    const { api } = this.context;
    this.setFaces(await api.get<FaceFacts[]>("/api/faces"));
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
    this.seek(this.at);
    document.body.dataset["face"] = "ready";
  }

  private setFaces(faces: FaceFacts[]): void {
    const row = ({ name, frames, fps, notes }: FaceFacts) => {
      const frame = el("input", { class: "typed", attrs: { type: "number", min: 0, max: frames - 1, value: 0, "aria-label": `Frame of ${name}` } });
      const take = () => this.takeKey(name, Math.min(Math.max(Math.round(Number(frame.value)), 0), frames - 1));
      return el("li", { class: "row", attrs: { title: notes.join("; ") } },
        el("span", {}, `${name}, ${(frames / fps).toFixed(1)} s`), frame,
        button("Key", take, { kind: "quiet", title: "This frame of it as a key at the time that is shown" }));
    };
    refill(this.faceList, ...faces.filter(({ frames }) => frames > 0).map(row));
    const heads = [SIMPLE, ...faces.filter(({ head }) => head).map(({ name }) => name)];
    const choice = select("Head", heads.map((name) => ({ value: name, label: name })), this.head ?? SIMPLE, (name) => void this.setHead(name === SIMPLE ? null : name));
    refill(this.headBox, choice.element);
  }

  private async setHead(name: string | null): Promise<void> {
    this.head = name;
    const query = name ? `?name=${encodeURIComponent(name)}` : "";
    this.view.setSurface(await this.context.api.get<FaceSurface>(`/api/faces/surface${query}`));
    this.seek(this.at);
  }

  private async add(file: File): Promise<void> {
    const { api, store } = this.context;
    try {
      const data = new Uint8Array(await file.arrayBuffer());
      let text = "";
      for (let k = 0; k < data.length; k += 8192) text += String.fromCharCode(...data.subarray(k, k + 8192));
      this.setFaces(await api.send<FaceFacts[]>("POST", "/api/faces", { name: file.name, data: btoa(text) }));
      store.say(`Added ${file.name}.`, "done");
      this.ask(structuredClone(this.draft));
    } catch (error) {
      store.say((error as Error).message, "error");
    }
  }

  private async save(kind: "csv" | "glb"): Promise<void> {
    const answer = await fetch("/api/faces/file", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ request: this.draft, kind, head: kind === "glb" ? this.head : null }),
    });
    if (!answer.ok) return this.context.store.say(((await answer.json()) as { error: string }).error, "error");
    const link = el("a", { attrs: { href: URL.createObjectURL(await answer.blob()), download: `face.${kind}` } });
    link.click();
    URL.revokeObjectURL(link.href);
  }
}
