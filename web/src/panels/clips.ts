/** What panels ask about the clips of the library. */

import type { ArchivePage, ClipEntry, Motion, Recording } from "../messages";
import type { Context, State } from "../types";

/** What is to be done before anything can be: null where there is motion. */
export const toBegin = ({ document, archive, results }: State): string | null =>
  document.clips.length > 0 || archive || results.length > 0 ? null : "Drop motion files anywhere on this window, to begin.";

/** What is to be done before a verb that works on the graph can be asked; null where nothing is. */
export const firstOf = (state: State, then: string): string | null =>
  state.graph ? null : (toBegin(state) ?? `Build the graph first; then ${then}.`);

/** Whether recorded examples are chosen from the archive, since nobody took any of its clips. */
export const learnsFromArchive = ({ document, archive }: State): boolean => archive !== null && document.clips.length === 0;

/** Clips of the archive that were looked at, those on the stage first and then the latest: all are too many to list. */
function lookedAt(state: State): Motion[] {
  if (!state.archive) return [];
  const own = new Set(state.document.clips.map(({ id }) => `clip:${id}`));
  const isShown = ({ id }: Motion) => Number(state.view.shown.includes(id));
  return state.clips.filter(({ id }) => !own.has(id)).reverse().sort((a, b) => isShown(b) - isShown(a));
}

/** Names of the clips that a verb may be asked for by name: of the graph, or of recorded examples. */
export function clipNames(state: State, subject: string): string[] {
  const { graph, document } = state;
  const own = document.clips.map(({ name }) => name);
  if (state.archive && (subject === "graph" || own.length === 0)) return [...new Set(lookedAt(state).map(({ name }) => name))];
  if (subject === "examples") return own;
  if (!graph) return [];
  const said = new Map(graph.clips.map((clip) => [clip.name, clip.state === "kept"]));
  // Of many clips only those are told that fell out.
  const others = graph.clips.length < graph.clip_count;
  return own.filter((name) => said.get(name) ?? others);
}

/** The motion that requests call by this name; null where it is not known. */
export function clipCalled(state: State, name: string): string | null {
  const own = state.document.clips.find((entry) => entry.name === name);
  return own ? `clip:${own.id}` : (lookedAt(state).find((motion) => motion.name === name)?.id ?? null);
}

/** The same; of an archive, the server is asked. */
export async function findClip({ store, api }: Context, name: string): Promise<string | null> {
  const known = clipCalled(store.state, name);
  if (known || !store.state.archive) return known;
  const query = `clip:"${name.replaceAll('"', "")}"`;
  const { clips } = await api.get<ArchivePage>(`/api/archive?${new URLSearchParams({ query, count: "500" }).toString()}`);
  const found = clips.find((clip) => clip.name === name);
  return found ? `clip:${found.id}` : null;
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
