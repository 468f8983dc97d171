/** What panels ask about the clips of the library. */

import type { ClipEntry, Motion, Recording } from "../messages";
import type { Context, State } from "../types";

/** What is to be done before anything can be: null where there is motion. */
export const toBegin = ({ document, archive, results }: State): string | null =>
  document.clips.length > 0 || archive || results.length > 0 ? null : "Drop motion files anywhere on this window, to begin.";

/** What is to be done before a verb that works on the graph can be asked; null where nothing is. */
export const firstOf = (state: State, then: string): string | null =>
  state.graph ? null : (toBegin(state) ?? `Build the graph first; then ${then}.`);

/** What is to be done before a verb can be asked that learns from clips of one's own; null where nothing is. */
export function clipsFirst({ document, archive }: State): string | null {
  return archive && document.clips.length === 0 ? "Take some clips into yours first, in the library: those are learned from." : null;
}

/** Ids of the clips on the stage. */
export function shownClips(state: State): string[] {
  return state.view.shown.filter((id) => id.startsWith("clip:")).map((id) => id.slice(5));
}

export function motionOf(state: State, entry: ClipEntry): Motion | undefined {
  return state.clips.find((motion) => motion.id === `clip:${entry.id}`);
}

export function recordingOf(state: State, entry: ClipEntry): Recording | undefined {
  return state.recordings.find((recording) => recording.id === entry.source);
}

export function labelsOf(state: State, entry: ClipEntry): string[] {
  const labels = entry.labels ?? motionOf(state, entry)?.labels ?? recordingOf(state, entry)?.labels ?? [];
  return [...new Set(labels.map((label) => label.text))];
}

export function removeClip({ store }: Context, id: string): void {
  const entry = store.state.document.clips.find((clip) => clip.id === id);
  if (!entry) return;
  const rest = store.state.view.shown.filter((shown) => shown !== `clip:${id}`);
  if (rest.length !== store.state.view.shown.length) store.setView({ shown: rest });
  void store.change(`Remove ${entry.name}`, (document) => {
    document.clips = document.clips.filter((clip) => clip.id !== id);
  });
  store.say(`Removed ${entry.name}; Ctrl+Z brings it back.`, "done");
}

/** The address says what is done to the clip, so that a changed one gets a new picture. */
export function thumbnail(entry: ClipEntry, theme: State["view"]["theme"]): string {
  const what = `${entry.trim?.join("-") ?? "all"}${entry.mirrored ? "-mirrored" : ""}`;
  return `/api/clips/${entry.id}/thumbnail.png?theme=${theme}&of=${what}`;
}
