/** Mechanics of a result on the stage: the way of its centre of mass, ground forces as arrows, torques as colours. */

import { RED, TEAL } from "../colours";
import { checkbox, el } from "../dom";
import type { Result } from "../messages";
import { CLAY, FULL } from "../stage/heat";
import type { Context, LineOverlay, SphereOverlay, VectorOverlay } from "../types";

export const METRES_PER_BW = 0.5;
/** Forces that nothing explains, body weights, from which on they are drawn. */
const WORTH_BW = 0.1;

/** As the server measured it: samples from the first frame on. */
export interface Mechanics {
  rate: number;
  limbs: string[];
  com: [number, number, number][];
  /** By limb; null in the air. */
  centres: ([number, number, number] | null)[][];
  forces: [number, number, number][][];
  residual: [number, number, number][];
  /** By joint, N·m. */
  torques: number[][];
  /** What people reach at most; null where nobody knows. */
  strength: (number | null)[];
}

export const sampleAt = ({ com, rate }: Mechanics, seconds: number): number =>
  Math.min(Math.max(Math.round(seconds * rate), 0), com.length - 1);

/** Shares of what people reach, by joint. */
export const sharesAt = ({ torques, strength }: Mechanics, sample: number): number[] =>
  torques[sample]!.map((torque, joint) => (strength[joint] ? torque / strength[joint]! : 0));

type Part = "com" | "forces" | "torques";

export class MechanicsLayer {
  /** Which parts are drawn, to be put into a panel. */
  readonly element: HTMLElement;
  private readonly parts: Record<Part, boolean> = { com: true, forces: true, torques: true };
  private readonly known = new Map<string, Promise<Mechanics>>();
  private shown: { motion: string; mechanics: Mechanics } | null = null;
  private wanted: string | null = null;
  private line: LineOverlay | null = null;
  private middle: SphereOverlay | null = null;
  private arrows: VectorOverlay[] = [];
  private visible = false;

  constructor(
    private readonly context: Context,
    /** The mechanics of the result that is shown have come, or are gone. */
    private readonly changed: (mechanics: Mechanics | null) => void = () => undefined,
  ) {
    const box = (part: Part, label: string, hint: string) =>
      checkbox(label, true, (on) => {
        this.parts[part] = on;
        this.draw();
      }, hint).element;
    this.element = el(
      "div",
      { class: "form mechanics" },
      box("com", "Centre of mass", "Its way, and where it is now"),
      box("forces", "Ground forces", `One body weight is ${METRES_PER_BW} m long; red is what no contact explains`),
      box("torques", "Torques", "On each bone, of the joint it hangs from"),
      el("p", { class: "quiet-text torque-key" }, ...[[CLAY, "none"], [FULL, "what people reach"], [RED, "more"]].map(([colour, of]) => el("span", {}, swatch(colour!), ` ${of}`))),
    );
    context.stage.player.subscribe((player) => this.visible && this.tick(player.frame / player.fps));
  }

  show(visible: boolean): void {
    this.visible = visible;
    this.draw();
  }

  /** Of this result, whose first motion is on the stage; null for none. */
  set(result: Result | null): void {
    const id = result?.mechanics ? result.id : null;
    if (id === this.wanted) return this.draw();
    this.wanted = id;
    if (!id || !result) return this.take(null);
    let coming = this.known.get(id);
    if (!coming) {
      coming = this.context.api.get<Mechanics>(`/api/results/${id}/mechanics`);
      coming.catch(() => this.known.delete(id));
      this.known.set(id, coming);
      if (this.known.size > 24) this.known.delete(this.known.keys().next().value!);
    }
    const motion = result.motions[0]!.id;
    coming.then(
      (mechanics) => this.wanted === id && this.take({ motion, mechanics }),
      () => this.wanted === id && this.take(null), // it made room for newer ones
    );
  }

  private take(shown: MechanicsLayer["shown"]): void {
    this.shown = shown;
    this.changed(shown?.mechanics ?? null);
    this.draw();
  }

  private draw(): void {
    const { stage } = this.context;
    const shown = this.visible ? this.shown : null;
    const way = shown && this.parts.com ? shown.mechanics.com : [];
    if (way.length > 1) {
      this.line ??= stage.addLine([], { colour: TEAL, width: 2 });
      this.line.update(way);
      this.middle ??= stage.addSphere([0, 0, 0], { colour: TEAL, radius: 0.035 });
    } else {
      this.line?.remove();
      this.middle?.remove();
      this.line = this.middle = null;
    }
    // One for each limb, and one for what is unexplained.
    const count = shown && this.parts.forces ? shown.mechanics.limbs.length + 1 : 0;
    for (const arrow of this.arrows.splice(count)) arrow.remove();
    while (this.arrows.length < count) this.arrows.push(stage.addVector());
    for (const motion of stage.shown) if (!shown || !this.parts.torques) stage.colourBones(motion.id, null);
    this.tick(stage.player.frame / stage.player.fps);
  }

  private tick(seconds: number): void {
    const { stage } = this.context;
    if (!this.shown || !this.visible) return;
    const { motion, mechanics } = this.shown;
    const sample = sampleAt(mechanics, seconds);
    // While a newer motion is on its way to its own answer, these are not its forces.
    const onStage = stage.shown[0]?.id === motion;
    const scaled = ([x, y, z]: [number, number, number]) => [METRES_PER_BW * x, METRES_PER_BW * y, METRES_PER_BW * z];
    this.middle?.update(mechanics.com[sample]!);
    this.arrows.forEach((arrow, limb) => {
      const isLimb = limb < mechanics.limbs.length;
      const force = isLimb ? mechanics.forces[sample]![limb]! : mechanics.residual[sample]!;
      const from = isLimb ? mechanics.centres[sample]![limb] : mechanics.com[sample]!;
      const worth = onStage && from && (isLimb || Math.hypot(...force) > WORTH_BW);
      arrow.update(from ?? [0, 0, 0], worth ? scaled(force) : [0, 0, 0], isLimb ? TEAL : RED);
    });
    if (this.parts.torques && onStage) stage.colourBones(motion, sharesAt(mechanics, sample));
  }
}

function swatch(colour: string): HTMLElement {
  const dot = el("span", { class: "swatch", attrs: { "aria-hidden": "true" } });
  dot.style.setProperty("--swatch", colour);
  return dot;
}
