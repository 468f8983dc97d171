/** Where and when feet stand: strips painted on the timeline, footprints dragged on the stage. */

import { AMBER, TEAL } from "../colours";
import type { ContactGoal, Motion } from "../messages";
import type { Context, Place, Span } from "../types";
import { Pool } from "./solvepool";

const FEET = ["left", "right"] as const;
const SIZE_M: [number, number, number] = [0.1, 0.02, 0.26];
/** Contacts that are no farther apart in time belong together. */
const MEET_S = 0.03;

/** A foot that stands: its contacts, where its parts come down and lift one by one. */
export interface Footprint {
  foot: (typeof FEET)[number];
  start_s: number;
  end_s: number;
  position: [number, number, number];
  /** None: as it points. */
  facing_deg?: number | null;
  contacts: readonly ContactGoal[];
}

/** Contacts of one foot that are in one place and meet in time are one footprint. */
export function footprintsOf(contacts: readonly ContactGoal[]): Footprint[] {
  const prints: Footprint[] = [];
  for (const contact of [...contacts].sort((a, b) => a.start_s! - b.start_s!)) {
    const { foot, position, facing_deg } = contact;
    const [start_s, end_s] = [contact.start_s!, contact.end_s!];
    const known = prints.find((one) => one.foot === foot && `${one.position}` === `${position}` && start_s <= one.end_s + MEET_S);
    if (known) Object.assign(known, { end_s: Math.max(known.end_s, end_s), contacts: [...known.contacts, contact] });
    else prints.push({ foot: foot as Footprint["foot"], start_s, end_s, position: position!, facing_deg: facing_deg ?? null, contacts: [contact] });
  }
  return prints;
}

const contactsOf = ({ contacts, position, facing_deg }: Footprint): ContactGoal[] =>
  contacts.map((contact) => ({ ...structuredClone(contact), position, facing_deg: facing_deg ?? null }));

export interface FeetScene {
  /** All of the motion that is shown. */
  prints: readonly Footprint[];
  /** Whether they are asked for, and not only as the motion has them. */
  asked: boolean;
  motion: Motion;
}

export interface FeetHooks {
  /** All contacts of feet; with `done` they are let go. */
  change(label: string, contacts: ContactGoal[], done: boolean): void;
}

export class PhysicsFeet {
  private readonly pool: Pool;
  private scene: FeetScene | null = null;
  private held: Footprint[] | null = null;
  private visible = false;

  constructor(
    private readonly context: Context,
    private readonly hooks: FeetHooks,
  ) {
    this.pool = new Pool(context.stage);
  }

  show(visible: boolean): void {
    this.visible = visible;
    if (!visible) this.held = null;
    this.draw();
  }

  set(scene: FeetScene | null): void {
    this.scene = scene;
    if (!this.held) this.draw();
  }

  private draw(): void {
    const { timeline } = this.context;
    const scene = this.visible ? this.scene : null;
    const prints = this.held ?? scene?.prints ?? [];
    this.pool.redraw(() => {
      prints.forEach((print, k) => {
        const { position, facing_deg } = print;
        const at: [number, number, number] = [position[0], position[1] + SIZE_M[1] / 2, position[2]];
        const style = { colour: scene?.asked ? AMBER : TEAL, opacity: 0.55 };
        this.pool
          .solid(`print ${k}`, { kind: "box", at, size: SIZE_M, yaw: ((facing_deg ?? 0) * Math.PI) / 180 }, style)
          .draggable(this.drag(k));
      });
    });
    if (!scene) return timeline.setLanes(null);
    const { fps } = scene.motion;
    const mine = FEET.map((foot) => scene.prints.map((print, k) => ({ print, k })).filter(({ print }) => print.foot === foot));
    timeline.setLanes({
      rows: FEET.map((foot, row) => ({
        name: `${foot} foot stands`,
        spans: mine[row]!.map(({ print }) => ({ start: print.start_s * fps, stop: print.end_s * fps })),
      })),
      paint: (row, span) => this.paint(FEET[row]!, span),
      change: (row, index, span) => this.time(mine[row]![index]!.k, span),
      remove: (row, index) => this.tell("Lift a foot", scene.prints.filter((_, k) => k !== mine[row]![index]!.k)),
    });
  }

  private tell(label: string, prints: readonly Footprint[], done = true): void {
    const sorted = [...prints].sort((a, b) => a.start_s - b.start_s);
    this.hooks.change(label, sorted.flatMap(contactsOf), done);
  }

  private time(k: number, span: Span): void {
    const { prints, motion } = this.scene!;
    const last = (motion.frames - 1) / motion.fps;
    const start_s = rounded(Math.min(Math.max(span.start / motion.fps, 0), last - 0.05));
    const end_s = rounded(Math.min(Math.max(span.stop / motion.fps, start_s + 0.05), last));
    this.tell("Change when a foot stands", prints.map((print, n) => (n === k ? whole({ ...print, start_s, end_s }) : print)));
  }

  /** Where the foot is then, as it points in the stance that is nearest in time. */
  private paint(foot: "left" | "right", span: Span): void {
    const { prints, motion } = this.scene!;
    const joint = motion.joints.findIndex((name) => /foot|ankle/i.test(name) && (foot === "left" ? /left|^l/i : /right|^r/i).test(name));
    const at = joint >= 0 ? this.context.stage.jointAt(motion.id, joint, Math.round((span.start + span.stop) / 2)) : null;
    if (!at) return;
    const middle = (span.start + span.stop) / 2 / motion.fps;
    const gap = (print: Footprint) => Math.min(Math.abs(print.start_s - middle), Math.abs(print.end_s - middle));
    const near = prints.filter((print) => print.foot === foot).sort((a, b) => gap(a) - gap(b))[0];
    const made = whole({
      foot,
      start_s: rounded(span.start / motion.fps),
      end_s: rounded(span.stop / motion.fps),
      position: [rounded(at.x), near?.position[1] ?? 0, rounded(at.z)],
      facing_deg: near?.facing_deg ?? 0,
    });
    this.tell("Let a foot stand", [...prints, made]);
  }

  private drag(k: number) {
    const move = (at: Place) => {
      if (!this.scene) return;
      const height = Math.min(Math.max(at.y - SIZE_M[1] / 2, 0), 2); // of the floor under it, not of its middle
      this.held = this.scene.prints.map((print, n) =>
        n === k ? { ...print, position: [rounded(at.x), rounded(height), rounded(at.z)] } : print,
      );
      this.draw();
      this.tell("Move a footprint", this.held, false);
    };
    return {
      kind: "space" as const,
      label: "Drag the footprint; with Shift up and down, as on a step or a stone",
      move,
      end: () => {
        const { held } = this;
        this.held = null;
        if (held) this.tell("Move a footprint", held);
      },
    };
  }
}

/** One contact of all its parts, without times of their own, which were those of the stance as it was. */
function whole({ foot, start_s, end_s, position, facing_deg }: Omit<Footprint, "contacts">): Footprint {
  const print = { foot, start_s, end_s, position, facing_deg: facing_deg ?? null };
  return { ...print, contacts: [print] };
}

const rounded = (value: number): number => Math.round(1000 * value) / 1000;
