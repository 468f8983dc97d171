/** Controls of a form for names: of motions of the project, and of things that are given a value each. */

import { button, type Control, el, optionalNumber, select, textField } from "../dom";
import type { Plain } from "../messages";
import { boundsOf, type Schema } from "./schema";
import { refill } from "./watch";

export interface Choice {
  value: string;
  label: string;
}

/** One motion, chosen from those that there are; a file that a request names stays among them. */
export function motionChoice(label: string, hint: string, motions: () => readonly Choice[], change: (name: string) => void): Control<string> {
  const made = select<string>(label, [], "", change, hint);
  return {
    ...made,
    set(name) {
      made.setChoices([{ value: "", label: "Choose …" }, ...withName(motions(), name)]);
      made.set(name);
    },
  };
}

/** Some motions: those that are named, each to be taken away, and a choice of one more. */
export function motionList(
  label: string,
  hint: string,
  motions: () => readonly Choice[],
  change: (names: string[]) => void,
): Control<string[]> {
  let names: string[] = [];
  const list = el("ul", { class: "names", attrs: { "aria-label": label } });
  const more = select<string>(label, [], "", (name) => name && change([...names, name]), hint);
  return {
    element: el("div", { class: "naming" }, more.element, list),
    setError: more.setError,
    set(now) {
      names = now;
      const known = motions();
      more.setChoices([{ value: "", label: "Add …" }, ...known.filter(({ value }) => !names.includes(value))]);
      more.set("");
      refill(
        list,
        ...names.map((name) => {
          const called = known.find(({ value }) => value === name)?.label ?? name;
          const drop = () => change(names.filter((other) => other !== name));
          return el("li", { class: "row" }, el("span", {}, called), button(`Without ${called}`, drop, { icon: "close", iconOnly: true, kind: "quiet" }));
        }),
      );
    },
  };
}

const withName = (known: readonly Choice[], name: string): Choice[] =>
  !name || known.some(({ value }) => value === name) ? [...known] : [...known, { value: name, label: name }];

type Named = Record<string, Plain>;

/** What a new name gets where the names are known, such as metres by which a clip is preferred. */
const SMALL = 0.01;

/** Rows of a mapping: a number or a text for each name. Names that are not known beforehand are typed. */
export function namedValues(
  label: string,
  range: Schema,
  known: readonly string[],
  values: Named,
  change: (edit: (map: Named) => void) => void,
): HTMLElement[] {
  const texts = range.type === "string";
  const first = texts ? "" : known.length > 0 ? SMALL : Math.min(1, range.maximum ?? 1);
  const add = (name: string) => name.trim() && change((map) => (map[name.trim()] ??= first));
  const more = `Add to ${label.toLowerCase()}`;
  const adder =
    known.length > 0
      ? select<string>(more, [{ value: "", label: "Add …" }, ...known.map((value) => ({ value, label: value }))], "", add)
      : textField(more, "", add, "name");
  return [...Object.entries(values).map(([name, value]) => row(name, value, range, change)), adder.element];
}

function row(name: string, value: Plain, range: Schema, change: (edit: (map: Named) => void) => void): HTMLElement {
  const drop = () => change((map) => delete map[name]);
  if (range.type === "string") {
    // Nothing said is a value too, so there is another way to take it away.
    const made = textField(name, String(value ?? ""), (text) => change((map) => (map[name] = text.trim())), "none");
    return el("div", { class: "row" }, made.element, button(`Remove ${name}`, drop, { icon: "close", iconOnly: true, kind: "quiet" }));
  }
  return optionalNumber(name, {
    ...boundsOf(range),
    step: 0.005,
    unit: range.unit ?? "",
    value: typeof value === "number" ? value : null,
    empty: "none",
    onChange: (now) => (now === null ? drop() : change((map) => (map[name] = now))),
  }).element;
}
