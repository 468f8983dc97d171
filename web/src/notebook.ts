/** The stage in a notebook's cell: motions come with the widget, nothing is fetched. Built into one module for anywidget. */

import { AMBER } from "./colours";
import { button, el, icon, toggle } from "./dom";
import type { Motion } from "./messages";
import style from "./notebook.css?inline";
import { WebStage } from "./stage/stage";
import type { At, MotionSource, Player } from "./types";

type Theme = "dark" | "light";

interface Figure {
  motion: Motion;
  frames: DataView;
}

/** What the widget's Python side says; see StageView in notebook/view.py. */
interface Traits {
  figures: Figure[];
  meshes: Record<string, DataView>;
  paths: [number, number][][];
  notes: string[];
  height: number;
  theme: "auto" | Theme;
  /** Seconds. */
  time: number;
  playing: boolean;
  loop: boolean;
  speed: number;
  ghosts: boolean;
  follow: boolean;
}

/** The part of anywidget's model that is used here. */
interface Model {
  get<K extends keyof Traits>(name: K): Traits[K];
  set<K extends keyof Traits>(name: K, value: Traits[K]): void;
  save_changes(): void;
  on(event: string, fn: () => void): void;
  off(event: string, fn: () => void): void;
}

/** How far from the visible part of the notebook a stage is set up, pixels. */
const NEAR = 200;
/** Metres between the camera and whom it follows. */
const FOLLOW_M = 5;
/** Milliseconds between two times that are told to Python while it plays. */
const TELL = 250;

function render({ model, el: cell }: { model: Model; el: HTMLElement }): () => void {
  const host = cell.appendChild(document.createElement("div"));
  // Otherwise JupyterLab takes the keys that are pressed here for its own.
  host.dataset["lmSuppressShortcuts"] = "true";
  const root = host.attachShadow({ mode: "open" });
  const view = new View(model);
  root.append(el("style", {}, style), view.element);

  // Browsers allow few WebGL contexts at once: only stages that can be seen have one.
  const watcher = new IntersectionObserver(
    (entries) => void view.setSeen(entries[entries.length - 1]!.isIntersecting),
    { rootMargin: `${NEAR}px` },
  );
  watcher.observe(host);
  return () => {
    watcher.disconnect();
    view.dispose();
    host.remove();
  };
}

class View {
  readonly element: HTMLElement;
  private readonly box = el("div", { class: "box" });
  private readonly play = button("Play", () => this.set("playing", !this.model.get("playing")), { icon: "play", iconOnly: true, kind: "quiet" });
  private readonly scrubber = el("input", { class: "scrubber", attrs: { type: "range", min: 0, step: "any", "aria-label": "Time" } });
  private readonly clock = el("output", { class: "clock" });
  private readonly ghosts = toggle("Ghosts", false, (on) => this.set("ghosts", on), { icon: "ghosts", iconOnly: true, kind: "quiet" });
  private readonly follow = toggle("Camera follows", false, (on) => this.set("follow", on), { icon: "camera", iconOnly: true, kind: "quiet" });
  private readonly loop = toggle("Loop", true, (on) => this.set("loop", on), { icon: "loop", iconOnly: true, kind: "quiet" });
  private readonly undo: (() => void)[] = [];
  private stage: WebStage | null = null;
  /** Where the camera stood when the stage was taken down. */
  private camera: Partial<Pick<WebStage["camera"], "azimuth" | "polar" | "distance">> = {};
  /** The longest first: its time is everyone's. */
  private readonly cast: Figure[];
  private told = 0;
  /** Set while a trait is changed from here, which needs no answer. */
  private telling = false;

  constructor(private readonly model: Model) {
    this.cast = model.get("figures").toSorted((a, b) => seconds(b.motion) - seconds(a.motion));
    const names = model.get("figures").map(({ motion }) => motion.name).join(", ");
    this.element = el(
      "div",
      { class: "view", attrs: { role: "group", "aria-label": `Motion: ${names}` }, on: { keydown: (event) => this.key(event) } },
      this.box,
      el("div", { class: "transport" }, this.play, this.scrubber, this.clock, this.loop, this.ghosts, this.follow),
      ...model.get("notes").map((note) => el("p", { class: "note" }, note)),
    );
    // Until it is clicked, the wheel scrolls the notebook.
    this.box.addEventListener("wheel", (event) => this.box.matches(":focus-within") || event.stopPropagation(), true);
    this.scrubber.max = String(this.seconds);
    this.scrubber.addEventListener("input", () => {
      this.set("playing", false);
      this.set("time", Number(this.scrubber.value));
    });
    for (const name of ["theme", "height", "time", "playing", "loop", "speed", "ghosts", "follow"] as const) {
      const apply = () => this.telling || this.apply(name);
      model.on(`change:${name}`, apply);
      this.undo.push(() => model.off(`change:${name}`, apply));
    }
    this.undo.push(onThemeChange(() => this.apply("theme")));
    this.apply("height");
    this.apply("theme");
    this.show(model.get("time"), model.get("playing"));
  }

  /** Set the stage up when it comes into sight, take it down when it leaves. */
  async setSeen(seen: boolean): Promise<void> {
    if (seen === (this.stage !== null)) return;
    if (!seen) {
      const { azimuth, polar, distance } = this.stage!.camera;
      this.camera = { azimuth, polar, distance };
      this.stage!.dispose();
      this.stage = null;
      delete this.element.dataset["state"];
      return;
    }
    const { model, cast } = this;
    const paths = model.get("paths");
    const stage = (this.stage = new WebStage(this.box, fromMemory(cast, model.get("meshes")), {
      onLeave: () => this.set("follow", false),
    }));
    for (const path of paths) stage.addLine(path, { colour: AMBER, width: 3 });
    await stage.show(cast.map(({ motion }) => motion.id), { from: model.get("time") * this.fps, tinted: false });
    if (this.stage !== stage) return;
    stage.camera.frame([...paths.flat(), ...cast.flatMap(wayOf)]);
    if (model.get("follow")) stage.camera.distance = FOLLOW_M;
    Object.assign(stage.camera, this.camera);
    for (const name of ["theme", "loop", "speed", "ghosts", "follow", "playing"] as const) this.apply(name);
    stage.player.subscribe((player) => this.follows(player));
    this.element.dataset["state"] = "shown";
  }

  dispose(): void {
    for (const undo of this.undo) undo();
    this.stage?.dispose();
    this.stage = null;
  }

  private get fps(): number {
    return this.cast[0]!.motion.fps;
  }

  private get seconds(): number {
    return seconds(this.cast[0]!.motion);
  }

  /** A trait changed, here or in Python. */
  private apply(name: keyof Traits): void {
    const { model, stage } = this;
    if (name === "height") this.box.style.height = `${model.get("height")}px`;
    if (name === "theme") {
      const wanted = model.get("theme");
      const theme = wanted === "auto" ? notebookTheme() : wanted;
      this.element.dataset["theme"] = theme;
      stage?.setView({ theme });
    }
    if (name === "ghosts") stage?.setView({ ghosts: model.get("ghosts") });
    if (name === "follow") stage?.setView({ follow_camera: model.get("follow") });
    if (stage !== null) {
      if (name === "loop") stage.player.loop = model.get("loop");
      if (name === "speed") stage.player.speed = model.get("speed");
      if (name === "time") stage.player.seek(model.get("time") * this.fps);
      if (name === "playing" && model.get("playing") !== stage.player.playing) stage.player.toggle();
    }
    this.show(model.get("time"), model.get("playing"));
  }

  /** Change a trait by hand: shown at once, and told to Python. */
  private set<K extends keyof Traits>(name: K, value: Traits[K]): void {
    this.model.set(name, value);
    this.model.save_changes();
  }

  /** The player went on: tell it, but not at every frame. */
  private follows(player: Player): void {
    const time = player.frame / this.fps;
    this.show(time, player.playing);
    const now = performance.now();
    if (player.playing && this.model.get("playing") && now - this.told < TELL) return;
    this.told = now;
    this.telling = true;
    this.model.set("time", time);
    this.model.set("playing", player.playing);
    this.telling = false;
    this.model.save_changes();
  }

  private show(time: number, playing: boolean): void {
    const { model } = this;
    this.scrubber.value = String(time);
    this.scrubber.style.setProperty("--share", String(time / Math.max(this.seconds, 1e-9)));
    this.clock.textContent = `${time.toFixed(2)} / ${this.seconds.toFixed(2)} s`;
    this.scrubber.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds`);
    const label = playing ? "Pause" : "Play";
    if (this.play.title !== label) {
      this.play.title = label;
      this.play.setAttribute("aria-label", label);
      this.play.replaceChildren(icon(playing ? "pause" : "play"));
    }
    this.loop.set(model.get("loop"));
    this.ghosts.set(model.get("ghosts"));
    this.follow.set(model.get("follow"));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const player = this.stage?.player;
    if (!player) return;
    const step = event.shiftKey ? Math.round(this.fps) : 1;
    const does: Record<string, () => void> = {
      " ": () => this.set("playing", !this.model.get("playing")),
      ArrowLeft: () => player.step(-step),
      ArrowRight: () => player.step(step),
      Home: () => player.seek(0),
      End: () => player.seek(player.frames - 1),
      g: () => this.set("ghosts", !this.model.get("ghosts")),
      f: () => this.set("follow", !this.model.get("follow")),
    };
    for (let number = 1; number <= 5; number++) does[String(number)] = () => this.stage?.camera.view(number);
    const run = does[event.key];
    // A focused button is pressed by space as everywhere.
    if (!run || (event.key === " " && event.composedPath()[0] instanceof HTMLButtonElement)) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  }
}

function seconds({ frames, fps }: Motion): number {
  return (frames - 1) / fps;
}

/** Where on the floor a motion's root goes, twice a second and in the end. */
function wayOf({ motion, frames }: Figure): At[] {
  const row = 4 * (3 + 4 * motion.joints.length);
  const way: At[] = [];
  const last = motion.frames - 1;
  for (let k = 0; k < motion.frames + motion.fps / 2; k += Math.ceil(motion.fps / 2)) {
    const frame = Math.min(k, last);
    way.push([frames.getFloat32(frame * row, true), frames.getFloat32(frame * row + 8, true)]);
  }
  return way;
}

/** Motions that are already here. */
function fromMemory(figures: Figure[], meshes: Record<string, DataView>): MotionSource {
  const find = (id: string) => figures.find(({ motion }) => motion.id === id)!;
  const copy = ({ buffer, byteOffset, byteLength }: DataView) => buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
  return {
    motion: async (id) => find(id).motion,
    // A copy, because messages from Python are not aligned as float32 must be.
    frames: async (id) => new Float32Array(copy(find(id).frames)),
    figure: async (skeleton) => copy(meshes[skeleton]!),
  };
}

/** What JupyterLab, VS Code and Colab say of their theme; elsewhere, what the system prefers. */
function notebookTheme(): Theme {
  const { body, documentElement } = document;
  const said = body.dataset["jpThemeLight"] ?? body.dataset["vscodeThemeKind"] ?? documentElement.getAttribute("theme");
  if (said != null) return said === "true" || said.includes("light") ? "light" : "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function onThemeChange(fn: () => void): () => void {
  const watcher = new MutationObserver(fn);
  const attributeFilter = ["data-jp-theme-light", "data-vscode-theme-kind", "theme"];
  for (const element of [document.body, document.documentElement]) watcher.observe(element, { attributeFilter });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", fn);
  return () => {
    watcher.disconnect();
    system.removeEventListener("change", fn);
  };
}

export default { render };
