/** What is on the stage, whoever put it there. */

import type { Motion, Result } from "./messages";
import type { State } from "./types";

/** What stands for the skeleton of a face: its joints are blend shapes, its frames rows of their weights. */
export const FACE = "face";

/** A motion to be shown; `mark` changes with its frames. */
export interface Wanted {
  id: string;
  skeleton: string;
  frames: number;
  mark: string;
}

/** What the view names; where that is gone or nothing, the newest result or the first clip with steps. */
export function wantedMotions(state: State): Wanted[] {
  const who = state.view.character ?? "";
  const as = ({ id, skeleton, frames }: Motion, mark: string): Wanted => ({ id, skeleton, frames, mark: `${mark} ${who}` });
  const named = state.view.shown.flatMap((id) => {
    if (id.startsWith("clip:")) {
      const clip = state.clips.find((motion) => motion.id === id);
      const entry = state.document.clips.find((known) => `clip:${known.id}` === id);
      if (!clip || (!entry && !state.archive)) return [];
      return [as(clip, entry ? `${String(entry.trim)} ${entry.mirrored}` : "")];
    }
    const result = state.results.find((one) => `result:${one.id}` === id);
    return (result?.motions ?? []).map((motion) => as(motion, result!.created));
  });
  return named.length > 0 ? named : instead(state).map((motion) => as(motion, ""));
}

/** As the view would name it. */
export function shownIds(state: State): string[] {
  const wanted = wantedMotions(state).map(({ id }) => id);
  const named = state.view.shown.filter((id) => wanted.includes(id));
  return named.length > 0 ? named : wanted.slice(0, 1);
}

/** Whether people are to see it: it is an answer, and nobody removed it. */
export const isListed = ({ document }: State, result: Result): boolean =>
  result.verb !== "preview" && !result.passing && !document.removed.includes(result.id);

function instead(state: State): readonly Motion[] {
  const isVerb = state.verbs.some(({ name }) => name === state.view.verb);
  const newest = state.results.find((result) => isListed(state, result) && (isVerb ? result.verb === state.view.verb : result.motions[0]?.skeleton !== FACE));
  if (newest) return newest.motions;
  // Somebody who steps says more of the recordings than somebody who stands.
  const stepping = state.clips.find(({ contacts }) => contacts.some((stands) => stands.length > 1));
  return [stepping ?? state.clips[0]].filter((clip) => clip !== undefined);
}
