/** The motion that a verb changes, chosen from those of the project. */

import { button, el, select } from "../dom";
import type { Result } from "../messages";
import { namesOf } from "../naming";
import { isListed, shownIds } from "../shown";
import type { Context, ProjectDocument, State } from "../types";
import { labelOf } from "./schema";
import { watch } from "./watch";

/** Which motion a verb changes: a clip, a result, or what is on the stage. `also` is part of the same step of undo. */
export function subjectChooser({ store }: Context, verb: string, also: (document: ProjectDocument) => void = () => undefined): HTMLElement {
  const choose = (id: string) =>
    void store.change("Choose a motion", (document) => {
      if (id) document.subjects[verb] = id;
      else delete document.subjects[verb];
      also(document);
    });
  const made = select<string>("Motion", [], "", choose);
  const take = button("Take what is on the stage", () => choose(onStage(store.state, verb) ?? ""));
  const ids = (of: readonly { id: string }[]) => of.map(({ id }) => id);
  watch(store, [(state) => state.document, (state) => ids(state.clips), (state) => ids(state.results), shownIds], (state) => {
    made.setChoices([{ value: "", label: "Choose …" }, ...motionChoices(state, verb)]);
    made.set(state.document.subjects[verb] ?? "");
    take.hidden = onStage(state, verb) === null;
  });
  return el("div", { class: "subject" }, made.element, take);
}

/** What is on the stage and could be chosen, if it is not yet. */
function onStage(state: State, verb: string): string | null {
  const [shown] = shownIds(state);
  const isNew = shown !== undefined && shown !== state.document.subjects[verb];
  return isNew && motionChoices(state, verb).some(({ value }) => value === shown) ? shown : null;
}

const known = new WeakMap<readonly Result[], { names: ProjectDocument["names"]; made: Map<string, string> }>();

/** A result's name: the one given to it, else its own, with what sets it apart from others of that name. */
export function nameOf({ results, document: { names, clips } }: State, result: Result): string {
  const called = (name: string) =>
    clips.find(({ id }) => name === `clip:${id}`)?.name ?? results.find(({ id }) => name === `result:${id}`)?.name ?? name;
  let held = known.get(results);
  if (held?.names !== names) known.set(results, (held = { names, made: namesOf(results, names, { field: labelOf, motion: called }) }));
  return held!.made.get(result.id) ?? names[result.id] ?? result.name;
}

/** Clips, and results of other verbs than this one. */
export function motionChoices(state: State, verb: string): { value: string; label: string }[] {
  const { document, results } = state;
  // Of an archive, those that were looked at.
  const own = new Set(document.clips.map(({ id }) => `clip:${id}`));
  const archived = state.archive ? state.clips.filter(({ id }) => !own.has(id)) : [];
  const others = results.filter((result) => result.verb !== verb && isListed(state, result));
  return [
    ...document.clips.map((clip) => ({ value: `clip:${clip.id}`, label: clip.name })),
    ...archived.map(({ id, name }) => ({ value: id, label: name })),
    ...others.map((result) => ({ value: `result:${result.id}`, label: nameOf(state, result) })),
  ];
}
