/** The right column: what was found, beside each other; compare, keep, rename, remove, go on from. */

import { shownColour } from "./colours";
import { copy, followLinks, linkOf, openCode } from "./dialogs/share";
import { button, el, icon, menu, type MenuItem } from "./dom";
import type { Plain, Problem, Result } from "./messages";
import { answersTo } from "./panels/asking";
import { fieldsOf, labelOf, type Schema } from "./panels/schema";
import { bySeverity } from "./panels/problems";
import { wayPicture } from "./panels/solveway";
import { nameOf } from "./panels/subject";
import { refill, watch } from "./panels/watch";
import { isListed, shownIds } from "./shown";
import type { Context, State } from "./types";
import "./panels.css";

const MOST_COMPARED = 8;

export function mountResults(column: HTMLElement, context: Context): void {
  const { store } = context;
  const list = el("div", { class: "results", attrs: { role: "list", "aria-label": "Results" } });
  const code = button("Show the command and the Python", () => {
    const [shown] = shownIds(store.state);
    const result = store.state.results.find(({ motions }) => motions.some(({ id }) => id === shown)) ?? store.state.results[0];
    if (result) openCode(context, result);
  }, { icon: "code", iconOnly: true, kind: "quiet" });
  column.append(el("header", { class: "results-head" }, el("h2", {}, "Results"), code), list);
  watch(
    store,
    [
      (state) => state.results,
      shownIds,
      (state) => state.view.verb,
      (state) => state.view.theme,
      (state) => state.view.character,
      (state) => state.document.kept,
      (state) => state.document.removed,
      (state) => state.document.names,
    ],
    (state) => {
      const verb = state.verbs.find(({ name }) => name === state.view.verb)?.name ?? null;
      const results = state.results.filter((result) => isListed(state, result) && (verb === null || result.verb === verb));
      const kept = results.filter((result) => isKept(state, result));
      const others = results.filter((result) => !isKept(state, result));
      const newest = together(state, others);
      const earlier = others.filter((result) => !newest.includes(result));
      code.hidden = state.results.length === 0;
      refill(
        list,
        ...(results.length === 0 ? [empty(state)] : []),
        ...newest.map((result) => card(context, result, newest.length > 1)),
        kept.length > 0 ? el("h3", {}, "Kept") : null,
        ...kept.map((result) => card(context, result)),
        earlier.length > 0 ? el("h3", {}, "Earlier") : null,
        ...earlier.map((result) => card(context, result)),
      );
    },
  );
  followLinks(context);
}

/** The answers to what is asked now, else the newest and those found with it, the best first. */
function together(state: State, results: readonly Result[]): Result[] {
  const [newest] = results;
  if (!newest) return [];
  const asked = answersTo(results, newest.verb, state.document.requests[newest.verb]);
  return asked.length > 0 ? asked : answersTo(results, newest.verb, newest.request);
}

const isKept = (state: State, result: Result): boolean => state.document.kept.includes(result.id);

function empty(state: State): HTMLElement {
  const verb = state.verbs.find(({ name }) => name === state.view.verb);
  const needed = verb?.subject === "graph" && !state.graph ? "Once the graph is built, this" : "This";
  const what = `${verb ? `${verb.summary} ` : ""}${needed} is where what is found appears.`;
  return el("div", { class: "empty" }, el("p", { class: "quiet-text" }, what));
}

function card(context: Context, result: Result, several = false): HTMLElement {
  const { store } = context;
  const { view } = store.state;
  const onStage = shownIds(store.state).includes(motionOf(result));
  const kept = isKept(store.state, result);
  const name = nameOf(store.state, result);
  const open = button(name, () => show(context, result), { kind: "quiet", title: name });
  open.setAttribute("aria-pressed", String(onStage));
  open.classList.add("name");
  const more = button(`More about ${name}`, () => menu(more, actions(context, result, element)), {
    icon: "more",
    iconOnly: true,
    kind: "quiet",
  });
  more.setAttribute("aria-haspopup", "menu");
  const compare = button(onStage ? "Take off the stage" : "Compare: show it too", () => toggleShown(context, result), {
    icon: "compare",
    iconOnly: true,
    kind: "quiet",
  });
  compare.setAttribute("aria-pressed", String(onStage));
  const keep = button(kept ? "No longer keep" : "Keep", () => setKept(context, result, !kept), {
    icon: kept ? "starred" : "star",
    iconOnly: true,
    kind: "quiet",
  });
  keep.setAttribute("aria-pressed", String(kept));
  const picture =
    (several || givesSeveral(store.state, result)) && result.path.length > 1 // ways tell them apart, thumbnails do not
      ? wayPicture(result.path)
      : el("img", {
          attrs: {
            src: `/api/results/${result.id}/thumbnail.png?theme=${view.theme}${view.character ? `&character=${view.character}` : ""}`,
            alt: "",
            loading: "lazy",
            width: 88,
            height: 66,
            draggable: "false",
          },
        });
  picture.addEventListener("click", () => show(context, result));
  const element = el(
    "article",
    { class: onStage ? "card shown" : "card", attrs: { role: "listitem" }, data: { result: result.id } },
    el("header", {}, swatch(store.state, result), open, compare, keep, more),
    el("div", { class: "body" }, picture, metrics(result)),
    ...bySeverity(result.problems).map((problem) =>
      el("p", { class: `problem ${problem.severity}` }, icon("warning"), problem.text, ...adviceButtons(context, result, problem))
    ),
  );
  return element;
}

/** The colour that it has on the stage, where it is not alone there. */
function swatch({ view }: State, result: Result): HTMLElement | null {
  const number = view.shown.indexOf(motionOf(result));
  if (view.shown.length < 2 || number < 0) return null;
  const dot = el("span", { class: "swatch", attrs: { "aria-hidden": "true" } });
  dot.style.setProperty("--swatch", shownColour(number));
  return dot;
}

/** Whether its verb usually has several answers, which come and go while they are bettered. */
function givesSeveral(state: State, { verb }: Result): boolean {
  const schema = state.verbs.find(({ name }) => name === verb)?.request as Schema | undefined;
  const count = schema && fieldsOf(schema, schema).find(({ name }) => name === "count");
  return Number(count?.usual ?? 1) > 1;
}

/** How good it is, with units; what is not as asked is red. */
function metrics({ metrics: known, problems, proved }: Result): HTMLElement {
  const missed = new Set(problems.filter(({ severity }) => severity === "missed").map(({ metric }) => metric));
  const rows = Object.entries(known).map(([name, metric]) =>
    el(
      "div",
      { class: missed.has(name) ? "missed" : "", title: metric.text },
      el("dt", {}, metric.text.charAt(0).toUpperCase() + metric.text.slice(1).replace(/,$/, "")), // of a sentence
      el("dd", {}, metric.said),
    )
  );
  const best = el("div", { class: "proved", title: "No answer can be better" }, icon("check"), "proved best");
  return el("dl", { class: "facts" }, ...rows, proved ? best : null);
}

/** What helps against a problem, as buttons that ask for it. */
function adviceButtons({ store }: Context, result: Result, { advice }: Problem): HTMLElement[] {
  return advice.map(({ field, value }) => {
    const label = `Set ${labelOf(field.split(".").at(-1)!)} to ${String(value)}`;
    const apply = () =>
      void store.change(label, ({ requests }) => {
        const request = (requests[result.verb] = structuredClone(result.request));
        const path = field.split(".");
        const last = path.pop()!;
        let part = request as Record<string, Plain>;
        for (const name of path) part = (part[name] ??= {}) as Record<string, Plain>;
        part[last] = value;
      });
    return button(label, apply, { kind: "quiet" });
  });
}

/** On the stage, alone; also when something that is not listed took its place. */
function show({ store, stage }: Context, result: Result): void {
  const shown = [motionOf(result)];
  if (store.state.view.shown.join() === shown.join()) void stage.show(result.motions.map(({ id }) => id));
  store.setView({ shown });
}

/** What the view calls it by: all people in it come along with the first. */
const motionOf = (result: Result): string => result.motions[0]!.id;

function toggleShown({ store }: Context, result: Result): void {
  const shown = shownIds(store.state);
  const others = shown.filter((id) => id !== motionOf(result));
  const onStage = others.length !== shown.length;
  if (!onStage) store.setView({ shown: [...others, motionOf(result)].slice(-MOST_COMPARED) });
  else if (others.length > 0) store.setView({ shown: others });
}

function setKept({ store }: Context, result: Result, kept: boolean): void {
  void store.change(`${kept ? "Keep" : "No longer keep"} ${nameOf(store.state, result)}`, (document) => {
    document.kept = document.kept.filter((id) => id !== result.id);
    if (kept) document.kept.push(result.id);
  });
}

function actions(context: Context, result: Result, element: HTMLElement): MenuItem[] {
  const items: MenuItem[] = [
    { label: "Export …", icon: "export", run: () => context.openExport(motionOf(result)) },
    { label: "Copy a link to this request", icon: "link", run: () => void copy(context, linkOf(result), "the link") },
    { label: "Show the command and the Python", icon: "code", run: () => openCode(context, result) },
    { label: "Rename", icon: "edit", run: () => rename(context, result, element) },
    { label: "Delete", icon: "trash", run: () => remove(context, result) },
  ];
  const verb = context.store.state.verbs.find(({ name }) => name === result.verb);
  if (verb && fieldsOf(verb.request as Schema, verb.request as Schema).some(({ name }) => name === "after")) {
    items.unshift({
      label: "Walk on from here",
      icon: "path",
      run: () => walkOn(context, result),
    });
  }
  return items;
}

/** The next path begins where this walk ends. */
function walkOn({ store }: Context, result: Result): void {
  store.setView({ verb: result.verb, shown: [motionOf(result)] });
  void store.change("Walk on", ({ requests }) => {
    const how = structuredClone(result.request);
    for (const name of ["path", "points", "goals", "facing_deg", "start"]) delete how[name];
    const after: Record<string, Plain> = { request: result.request };
    if (result.answer > 1) after["answer"] = result.answer;
    requests[result.verb] = { ...how, after };
  });
}

function remove({ store }: Context, result: Result): void {
  const name = nameOf(store.state, result);
  if (store.state.view.shown.includes(motionOf(result))) store.setView({ shown: [] });
  const there = new Set(store.state.results.map(({ id }) => id));
  void store.change(`Delete ${name}`, (document) => {
    document.removed = [...document.removed.filter((id) => there.has(id)), result.id];
    document.kept = document.kept.filter((id) => id !== result.id);
  });
  store.say(`Deleted ${name}; Ctrl+Z brings it back.`, "done");
}

function rename({ store }: Context, result: Result, element: HTMLElement): void {
  const name = element.querySelector<HTMLElement>(".name")!;
  const input = el("input", { class: "name", attrs: { type: "text", maxlength: 200, "aria-label": "New name" } });
  const before = nameOf(store.state, result);
  input.value = before;
  let over = false;
  const finish = (save: boolean) => {
    if (over) return;
    over = true;
    const text = input.value.trim();
    input.replaceWith(name);
    if (save && text && text !== before) {
      void store.change(`Rename ${before}`, (document) => (document.names[result.id] = text));
    }
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") finish(true);
    if (event.key === "Escape") finish(false);
  });
  input.addEventListener("blur", () => finish(true));
  name.replaceWith(input);
  input.select();
}
