/** Who is seen: figures and frames of motions, on the mannequin and on somebody's own character. */

import type { Motion } from "../messages";
import { FACE } from "../shown";
import type { MotionSource } from "../types";
import { FigureLibrary, type Template } from "./figure";
import { Track } from "./track";
import { Wearing } from "./wearing";

/** Frames, and the figure they move. */
export interface Moving {
  track: Track;
  template: Template;
}

/** A motion, and the same on the character where there is one. */
export interface Played extends Moving {
  worn: Moving | null;
}

/** A body that is moved pose by pose, and how the character wears its poses. */
export interface LiveBody {
  template: Template;
  worn: { template: Template; wearing: Wearing } | null;
}

export class Casting {
  private readonly figures: FigureLibrary;

  constructor(
    private readonly source: MotionSource,
    private readonly trouble: (message: string) => void,
  ) {
    this.figures = new FigureLibrary(source);
  }

  /** Null for a face, which its own panel shows. */
  async body(id: string): Promise<Played | null> {
    return (await this.source.motion(id)).skeleton === FACE ? null : this.played(id);
  }

  async played(id: string): Promise<Played> {
    const motion = await this.source.motion(id);
    const [frames, template, worn] = await Promise.all([
      this.source.frames(id),
      this.figures.load(motion.skeleton),
      this.onCharacter(this.source.worn?.(id), ({ motion: own, frames: rows }, body) => ({ track: new Track(own, rows, body.offsets), template: body })),
    ]);
    return { track: new Track(motion, frames, template.offsets), template, worn };
  }

  async live(skeleton: string): Promise<LiveBody> {
    const [template, worn] = await Promise.all([
      this.figures.load(skeleton),
      this.onCharacter(this.source.live?.(skeleton), ({ facts }, body) => ({ template: body, wearing: new Wearing(facts) })),
    ]);
    return { template, worn };
  }

  /** What is there of the character; the mannequin where that cannot be had. */
  private async onCharacter<T extends { character: string; figure: () => Promise<ArrayBuffer> }, U>(
    coming: Promise<T | null> | undefined,
    make: (worn: T, template: Template) => U,
  ): Promise<U | null> {
    try {
      const worn = (await coming) ?? null;
      return worn && make(worn, await this.figures.load(worn.character, worn.figure));
    } catch (error) {
      this.trouble((error as Error).message);
      return null;
    }
  }
}

/** Rows of a body, and those of the character where it is worn, as tracks. */
export function played({ template, worn }: LiveBody, motion: Motion, rows: Float32Array, own: Float32Array): Played {
  const track = new Track(motion, rows, template.offsets);
  if (!worn) return { track, template, worn: null };
  const { facts } = worn.wearing;
  const joints = facts.to_parents.map((_, joint) => `joint ${joint}`);
  const body = { ...motion, joints, parents: facts.to_parents, feet: [], contacts: [] };
  return { track, template, worn: { track: new Track(body, own, worn.template.offsets), template: worn.template } };
}
