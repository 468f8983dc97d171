/** Who is on the stage: figures, the characters seen in their place, and the ways they go. */

import { Group, Vector3 } from "three";
import { ownerOf } from "../colours";
import type { StageView } from "../types";
import type { Played } from "./casting";
import { Figure } from "./figure";
import { STAGE_THEMES } from "./theme";
import { resampled } from "./track";
import { Trail } from "./trails";

const SIDE_BY_SIDE_M = 1.6;
/** What a figure's own colours are seen through: amber light on whoever leads. */
const LEADER = "#ffcf87";
const WORK = new Vector3();

/** Who is to move, and how that looks. */
export interface Part extends Played {
  id: string;
  /** Of the way. */
  colour: string;
  /** What the figure is seen through. */
  tint: string;
}

/** One who moves. */
export interface Actor extends Part {
  figure: Figure;
  trail: Trail;
  /** The character who is seen instead, moved by frames of its own. */
  character: Figure | null;
}

export class Actors {
  readonly object = new Group();
  private all: Actor[] = [];

  [Symbol.iterator](): Iterator<Actor> {
    return this.all[Symbol.iterator]();
  }

  get lead(): Actor | null {
    return this.all[0] ?? null;
  }

  named(id: string): Actor | null {
    return this.all.find((actor) => actor.id === id) ?? null;
  }

  /** Others instead of those who are there; figures that fit go on. */
  replace(parts: readonly Part[]): void {
    const free = [...this.all];
    for (const actor of this.all) {
      actor.trail.dispose();
      actor.character?.dispose();
    }
    this.all = parts.map((part) => {
      const again = free.findIndex((actor) => actor.template === part.template);
      const figure = again >= 0 ? free.splice(again, 1)[0]!.figure : new Figure(part.template);
      const { track, template } = part.worn ?? part; // the way is that of whoever is seen
      const trail = new Trail(track, template, part.colour);
      figure.heat(null);
      figure.tint(part.track.motion.leads ? LEADER : part.tint);
      this.object.add(figure.object, trail.object);
      const character = part.worn && new Figure(part.worn.template);
      if (character) this.object.add(character.object);
      figure.drawn = !character;
      return { ...part, figure, trail, character };
    });
    for (const actor of free) actor.figure.dispose();
  }

  /** Other frames for one of them, at its own rate and by its own name: markers and strips stay where they are. */
  swap(actor: Actor, { track, worn }: Played): void {
    const { fps } = actor.track.motion;
    const whole = { ...actor.track.motion, frames: Math.round(((track.motion.frames - 1) * fps) / track.motion.fps) + 1 };
    actor.track = resampled(track, whole);
    if (worn && actor.worn) actor.worn.track = resampled(worn.track, { ...actor.worn.track.motion, frames: whole.frames, fps });
    else {
      actor.character?.dispose();
      actor.character = actor.worn = null;
      actor.figure.drawn = true;
    }
    actor.trail.dispose();
    actor.trail = new Trail(actor.worn?.track ?? actor.track, actor.worn?.template ?? actor.template, actor.colour);
    this.object.add(actor.trail.object);
    actor.trail.object.position.copy(actor.figure.object.position);
  }

  /** Results in a row, each beginning on its own spot; or where their motions have them. People of one result stay
      together, and who is alone stays where the motion is: what was asked for is there. */
  arrange(beside: boolean): void {
    const owners = [...new Set(this.all.map(({ id }) => ownerOf(id)))];
    for (const { id, figure, trail, character } of this.all) {
      const k = owners.indexOf(ownerOf(id));
      const first = this.all.find((actor) => ownerOf(actor.id) === owners[k])!;
      const start = first.track.root(0, WORK);
      const [x, z] = beside && owners.length > 1 ? [SIDE_BY_SIDE_M * (k - (owners.length - 1) / 2) - start.x, -start.z] : [0, 0];
      for (const one of [figure, trail, character]) one?.object.position.set(x, 0, z);
    }
  }

  dress(view: StageView): void {
    for (const { trail } of this.all) trail.dress(view, STAGE_THEMES[view.theme]);
  }

  /** At a frame of whoever leads, and for all others at that time. */
  pose(frame: number, seconds: number): void {
    for (const { track, figure, trail, worn, character } of this.all) {
      const own = track === this.lead!.track ? frame : seconds * track.motion.fps;
      track.pose(figure.bones, own);
      if (worn && character) worn.track.pose(character.bones, own);
      trail.update(own);
    }
  }

  /** Puts the middle of all of them into `middle`, and says how far from it they are at most, metres along x or z. */
  spread(middle: Vector3): number {
    middle.set(0, 0, 0);
    for (const { figure, character } of this.all) middle.add(placeOf(character ?? figure));
    middle.divideScalar(this.all.length);
    let spread = 0;
    for (const { figure } of this.all) {
      const at = placeOf(figure);
      spread = Math.max(spread, Math.abs(at.x - middle.x), Math.abs(at.z - middle.z));
    }
    return spread;
  }

  dispose(): void {
    for (const { figure, trail, character } of this.all) {
      trail.dispose();
      figure.dispose();
      character?.dispose();
    }
  }
}

const placeOf = ({ bones, object }: Figure): Vector3 => WORK.copy(bones[0]!.position).add(object.position);
