/** Plain controls for a request, made from its JSON Schema: numbers with units and bounds, choices, switches, texts,
    lists, and a section for each nested model. Panels keep controls of their own for what is drawn and dragged. */

import { button, checkbox, type Control, el, optionalNumber, section, segments, select, textField } from "../dom";
import type { Plain } from "../messages";
import { type Choice, motionChoice, motionList, namedValues } from "./formnames";
import { blank, boundsOf, type Field, fieldsOf, kindOf, labelOf, resolved, type Schema } from "./schema";
import { refill } from "./watch";

/** Milliseconds within which changes of one control are one step of undo. */
const SETTLE = 150;

type Holder = Record<string, Plain>;
type Path = readonly (string | number)[];

export interface FormHooks {
  edit(label: string, change: (request: Holder) => void, settle?: number): void;
}

export interface FormOptions {
  /** Fields that have controls elsewhere. */
  skip?: readonly string[];
  /** What a text may be, by the field's name: clips, joints, labels. */
  choices?: Record<string, () => readonly string[]>;
  /** Motions of the project, where a field names some. */
  motions?: () => readonly Choice[];
}

export interface Form {
  element: HTMLElement;
  set(request: object): void;
  /** Say what is wrong beside the field that it is about; whether there is one. */
  fail(where: string, text: string): boolean;
  clear(): void;
}

/** What every control needs to know of the whole. */
interface Whole {
  root: Schema;
  hooks: FormHooks;
  options: FormOptions;
  setters: ((request: Holder) => void)[];
  errors: Map<string, (text: string | null) => void>;
}

export function requestForm(root: Schema, hooks: FormHooks, options: FormOptions = {}): Form {
  const whole: Whole = { root, hooks, options, setters: [], errors: new Map() };
  const element = el("div", { class: "form" }, ...controls(whole, root, []));
  return {
    element,
    set: (request) => whole.setters.forEach((set) => set(request as Holder)),
    fail(where, text) {
      // The control itself, or the nearest that holds it: "goals[0].label", "goals[0]", "goals".
      for (let place = where; place; place = place.replace(/(\[\d+\]|\.?\w+)$/, "")) {
        const tell = whole.errors.get(place);
        if (tell) return (tell(text), true);
      }
      return false;
    },
    clear: () => whole.errors.forEach((tell) => tell(null)),
  };
}

/** Sections behind plain controls, in the order of the fields; what is advanced behind them, folded away. */
function controls(whole: Whole, schema: Schema, path: Path): HTMLElement[] {
  const skipped = path.length === 0 ? (whole.options.skip ?? []) : [];
  const fields = fieldsOf(whole.root, schema).filter((field) => !field.schema.hidden && !skipped.includes(field.name));
  const isFolded = (field: Field) => field.schema.advanced === true && !schema.advanced;
  const made = ordered(whole, fields.filter((field) => !isFolded(field)), path);
  const folded = fields.filter(isFolded);
  if (folded.length === 0) return made;
  const settings = folded.filter((field) => kindOf(whole.root, field.schema) === "section");
  const inside = settings.flatMap(({ name, schema: part }) => controls(whole, part, [...path, name]));
  const others = ordered(whole, folded.filter((field) => !settings.includes(field)), path);
  return [...made, section("Advanced", "closed", ...others, ...inside)];
}

function ordered(whole: Whole, fields: Field[], path: Path): HTMLElement[] {
  const made = fields.map((field) => ({ nested: isNested(whole, field), element: control(whole, field, path) }));
  return [...made.filter(({ nested }) => !nested), ...made.filter(({ nested }) => nested)].map(({ element }) => element);
}

const isNested = ({ root }: Whole, { schema }: Field): boolean =>
  ["section", "list", "mapping"].includes(kindOf(root, schema));

function control(whole: Whole, field: Field, path: Path): HTMLElement {
  const { schema, hint, name } = field;
  const here: Path = [...path, name];
  const label = labelOf(name);
  const kind = kindOf(whole.root, schema);
  const edit = (value: Plain | undefined, settle?: number) =>
    whole.hooks.edit(`Change ${label.toLowerCase()}`, (request) => write(request, here, value, field.usual), settle);
  const bind = <T extends Plain>(made: Control<T>, show: (value: Plain | undefined) => T): HTMLElement => {
    whole.setters.push((request) => made.set(show(read(request, here) ?? field.usual)));
    whole.errors.set(said(here), made.setError);
    return made.element;
  };
  if (kind === "section") {
    return section(schema.panel ?? label, "closed", ...controls(whole, schema, here));
  }
  if (kind === "list") return list(whole, field, here);
  if (kind === "mapping") return mapping(whole, field, here);
  if (kind === "switch") {
    const off = schema.inverted !== undefined;
    const made = checkbox(off ? labelOf(schema.inverted!) : label, false, (on) => edit(on !== off), hint);
    return bind(made, (value) => (value === true) !== off);
  }
  if (kind === "number") {
    const made = optionalNumber(label, {
      ...boundsOf(schema),
      unit: schema.unit ?? "",
      hint,
      value: null,
      empty: field.optional ? "–" : null,
      onChange: (value) => edit(value ?? undefined, SETTLE),
    });
    return bind(made, (value) => (typeof value === "number" ? value : null));
  }
  const { motions } = whole.options;
  if (schema.format === "motion" && motions) {
    if (kind === "text") return bind(motionChoice(label, hint, motions, (one) => edit(one || undefined)), (value) => String(value ?? ""));
    const made = motionList(label, hint, motions, (names) => edit(names.length > 0 ? names : undefined));
    return bind(made, (value) => (Array.isArray(value) ? value.map(String) : []));
  }
  if (name === "quality" && schema.enum) {
    return bind(segments(label, schema.enum, "", edit, hint), (value) => String(value ?? ""));
  }
  const known = whole.options.choices?.[name];
  if (kind === "choice" || (kind === "text" && known)) {
    const none = field.optional || kind === "text" ? [{ value: "", label: "–" }] : [];
    const made = select<string>(label, [], "", (value) => edit(value === "" ? undefined : value), hint);
    const choose = (now: string) => {
      const names = schema.enum ?? [...known!()];
      const all = now && !names.includes(now) ? [...names, now] : names;
      made.setChoices([...none, ...all.map((value) => ({ value, label: value }))]);
    };
    whole.setters.push((request) => choose(String(read(request, here) ?? field.usual ?? "")));
    return bind(made, (value) => String(value ?? ""));
  }
  if (kind === "tuple") return tuple(whole, field, here);
  const example = schema.format === "file" ? "file" : "";
  const made = textField(label, "", (text) => edit(kind === "words" ? wordsOf(text) : text || undefined), example, hint);
  return bind(made, (value) => (Array.isArray(value) ? (kind === "text" ? "" : value.join(", ")) : String(value ?? "")));
}

const wordsOf = (text: string): string[] | undefined => {
  const words = text.split(",").map((word) => word.trim());
  return text.trim() ? words.filter(Boolean) : undefined;
};

// ---------------------------------------------------------------- several values

/** A place or a velocity: a number for each coordinate, empty where it does not matter. */
function tuple(whole: Whole, field: Field, here: Path): HTMLElement {
  const parts = field.schema.prefixItems!;
  const axes = parts.length === 2 ? ["x", "z"] : parts.length === 3 ? ["x", "y", "z"] : parts.map((_, k) => `${k + 1}`);
  const fields = parts.map((part, k) => {
    const free = part.anyOf !== undefined;
    const made = optionalNumber(axes[k]!, {
      ...boundsOf(part),
      step: 0.1,
      hint: field.hint,
      value: null,
      empty: free ? "any" : null,
      onChange: (value) =>
        whole.hooks.edit(`Change ${labelOf(field.name).toLowerCase()}`, (request) => {
          const before = read(request, here) ?? field.usual;
          const now = parts.map((_, n) => (Array.isArray(before) ? (before[n] ?? null) : null));
          now[k] = value;
          write(request, here, now, field.usual);
        }),
    });
    whole.setters.push((request) => {
      const value = read(request, here) ?? field.usual;
      const one = Array.isArray(value) ? value[k] : null;
      made.set(typeof one === "number" ? one : null);
    });
    return made;
  });
  whole.errors.set(said(here), fields[0]!.setError);
  const name = el("span", { class: "quiet-text", title: field.hint }, labelOf(field.name));
  return el("div", { class: `tuple of-${parts.length}` }, name, ...fields.map(({ element }) => element));
}

/** Values by name: clips that are preferred, joints and what each takes. */
function mapping(whole: Whole, field: Field, here: Path): HTMLElement {
  const body = el("div", { class: "mapping" });
  const label = labelOf(field.name);
  const change = (edit: (map: Record<string, Plain>) => void) =>
    whole.hooks.edit(`Change ${label.toLowerCase()}`, (request) => {
      const map = { ...(read(request, here) as Record<string, Plain> | undefined) };
      edit(map);
      write(request, here, Object.keys(map).length > 0 ? map : undefined, undefined);
    }, SETTLE);
  const range = typeof field.schema.additionalProperties === "object" ? field.schema.additionalProperties : {};
  whole.setters.push((request) => {
    const known = whole.options.choices?.[field.name]?.() ?? [];
    refill(body, ...namedValues(label, range, known, (read(request, here) ?? {}) as Holder, change));
  });
  const problem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  whole.errors.set(said(here), (text) => ((problem.hidden = text === null), (problem.textContent = text)));
  return section(label, "closed", el("p", { class: "quiet-text" }, field.hint), problem, body);
}

/** Entries that are models themselves: a form for each, to be added and removed. */
function list(whole: Whole, field: Field, here: Path): HTMLElement {
  const item = resolved(whole.root, field.schema.items!);
  const label = labelOf(field.name);
  const body = el("div", { class: "entries" });
  let forms: Form[] = [];
  const entries = (request: Holder) => (read(request, here) ?? []) as Plain[];
  const change = (what: string, edit: (all: Plain[]) => void) =>
    whole.hooks.edit(`${what} ${label.toLowerCase()}`, (request) => {
      const all = structuredClone(entries(request));
      edit(all);
      write(request, here, all.length > 0 ? all : undefined, undefined);
    });
  const one = (k: number): HTMLElement => {
    const hooks: FormHooks = { edit: (_, edit) => change("Change", (all) => edit(all[k] as Holder)) };
    const schema = { ...item, ...(whole.root.$defs ? { $defs: whole.root.$defs } : {}) };
    const inside = requestForm(schema, hooks, { ...whole.options, skip: [] });
    forms.push(inside);
    const drop = button(`Remove ${k + 1}`, () => change("Remove", (all) => all.splice(k, 1)), {
      icon: "close",
      iconOnly: true,
      kind: "quiet",
    });
    return el("div", { class: "entry" }, el("div", { class: "row" }, el("span", {}, `${k + 1}`), drop), inside.element);
  };
  whole.setters.push((request) => {
    const now = entries(request);
    if (now.length !== forms.length) {
      forms = [];
      refill(body, ...now.map((_, k) => one(k)));
    }
    forms.forEach((form, k) => form.set(now[k] as object));
  });
  const problem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  whole.errors.set(said(here), (text) => ((problem.hidden = text === null), (problem.textContent = text)));
  const add = button("Add", () => change("Add to", (all) => all.push(blank(whole.root, field.schema.items!))), {
    icon: "plus",
    kind: "quiet",
  });
  return section(label, "closed", el("p", { class: "quiet-text" }, field.hint), problem, body, add);
}

// ---------------------------------------------------------------- places in a request

const said = (path: Path): string =>
  path.map((part, k) => (typeof part === "number" ? `[${part}]` : k > 0 ? `.${part}` : part)).join("");

export function read(request: Holder | undefined, path: Path): Plain | undefined {
  return path.reduce<Plain | undefined>((value, part) => (value as Holder | null | undefined)?.[part], request);
}

/** Say a value; what is as usual, or nothing, is not said at all. */
export function write(request: Holder, path: Path, value: Plain | undefined, usual: Plain | undefined): void {
  const [first, ...rest] = path as [string, ...string[]];
  if (rest.length > 0) {
    const inside = (request[first] ??= {}) as Holder;
    write(inside, rest, value, usual);
    if (Object.keys(inside).length === 0) delete request[first];
  } else if (value === undefined || JSON.stringify(value) === JSON.stringify(usual)) {
    delete request[first];
  } else {
    request[first] = value;
  }
}
