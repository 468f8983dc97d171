/** Elements in few words, and the controls that all panels share. */

import { fillField, isTyped } from "./typing";

type Child = Node | string | null | undefined | false;
type Handlers = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };

export interface Props {
  class?: string;
  id?: string;
  title?: string;
  hidden?: boolean;
  disabled?: boolean;
  data?: Record<string, string>;
  /** Any other attribute: roles, aria-*, type, … */
  attrs?: Record<string, string | number | boolean>;
  on?: Handlers;
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (props.class) element.className = props.class;
  if (props.id) element.id = props.id;
  if (props.title) element.title = props.title;
  if (props.hidden) element.hidden = true;
  if (props.disabled) element.setAttribute("disabled", "");
  Object.assign(element.dataset, props.data);
  for (const [name, value] of Object.entries(props.attrs ?? {})) element.setAttribute(name, String(value));
  for (const [type, handler] of Object.entries(props.on ?? {})) {
    element.addEventListener(type, handler as (event: Event) => void);
  }
  add(element, ...children);
  return element;
}

export function add(parent: Element, ...children: Child[]): void {
  for (const child of children) if (child !== null && child !== undefined && child !== false) parent.append(child);
}

export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  add(parent, ...children);
}

// ---------------------------------------------------------------- icons, drawn on a grid of 16

const ICONS = {
  play: "M4.5 2.8v10.4l8.4-5.2z!",
  pause: "M4.5 3h2.4v10H4.5zM9.1 3h2.4v10H9.1z!",
  first: "M4 3v10M12.5 3.5v9L6 8z",
  last: "M12 3v10M3.5 3.5v9L10 8z",
  back: "M11 3.5v9L4.5 8z",
  forward: "M5 3.5v9L11.5 8z",
  loop: "M3 7V6a2 2 0 0 1 2-2h8M11 2l2 2-2 2M13 9v1a2 2 0 0 1-2 2H3M5 14l-2-2 2-2",
  undo: "M3 6h6.5a3.5 3.5 0 0 1 0 7H6M5.5 3.5L3 6l2.5 2.5",
  redo: "M13 6H6.5a3.5 3.5 0 0 0 0 7H10M10.5 3.5L13 6l-2.5 2.5",
  export: "M8 10V2.5M5 5.2L8 2.3l3 2.9M3 9.5v3.2h10V9.5",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3 5.6 5.6 0 1 0 13 9.6z",
  help: "M5.8 6a2.2 2.2 0 1 1 3.4 1.8c-.8.5-1.2 1-1.2 1.9M8 12.2v.6",
  close: "M4 4l8 8M12 4l-8 8",
  left: "M2.5 3h11v10h-11zM6.5 3v10",
  right: "M2.5 3h11v10h-11zM9.5 3v10",
  camera: "M8 4.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6zM8 1v3M8 12v3M1 8h3M12 8h3",
  ghosts: "M6 3.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM3.5 13c0-3 1-5 2.5-5s2.5 2 2.5 5M11 3.5a1.5 1.5 0 0 1 0 3M10.7 8c1.2.2 2 2 2 5",
  path: "M2.5 12.5c3.5 0 2-8 5.5-8s1.5 7 5.5 3",
  feet: "M5.5 2.5c1.4 0 2 1.3 2 3 0 1.5-.6 2-.6 3.2H4.2C4.2 7.5 3.5 7 3.5 5.5c0-1.7.6-3 2-3zM4.2 10.5h2.7M10.5 5c1.4 0 2 1.2 2 2.6 0 1.3-.6 1.8-.6 2.9H9.2c0-1.1-.7-1.6-.7-2.9C8.5 6.2 9.1 5 10.5 5zM9.2 12.5h2.7",
  plus: "M8 3v10M3 8h10",
  trash: "M3 4.5h10M6.2 4.5V3h3.6v1.5M4.5 4.5l.5 8.5h6l.5-8.5",
  edit: "M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2z",
  mirror: "M8 2v12M5.5 4.5L2 11.5h3.5zM10.5 4.5l3.5 7h-3.5z",
  search: "M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2L13.5 13.5",
  star: "M8 2.2l1.8 3.7 4 .6-2.9 2.8.7 4L8 11.4l-3.6 1.9.7-4L2.2 6.5l4-.6z",
  starred: "M8 2.2l1.8 3.7 4 .6-2.9 2.8.7 4L8 11.4l-3.6 1.9.7-4L2.2 6.5l4-.6z!",
  link: "M6.8 9.2l2.4-2.4M7.5 5l1.3-1.3a2.5 2.5 0 0 1 3.5 3.5L11 8.5M8.5 11l-1.3 1.3a2.5 2.5 0 0 1-3.5-3.5L5 7.5",
  code: "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5",
  copy: "M6 6h7v7H6zM3 10V3h7",
  more: "M2.5 8a1 1 0 1 0 2 0 1 1 0 1 0-2 0zM7 8a1 1 0 1 0 2 0 1 1 0 1 0-2 0zM11.5 8a1 1 0 1 0 2 0 1 1 0 1 0-2 0z!",
  chevron: "M6 3.5L10.5 8L6 12.5",
  check: "M3 8.5l3.2 3.2L13 4.8",
  warning: "M8 2.5L14 13.2H2zM8 6.5v3.2M8 11.5v.2",
  compare: "M2.5 3.5h4.5v9H2.5zM9 3.5h4.5v9H9z",
  jobs: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5M8 5v3.2l2.2 1.3",
} as const;

export type IconName = keyof typeof ICONS;

/** A line drawing in the text's colour; decoration only, so hidden from screen readers. */
export function icon(name: IconName): SVGSVGElement {
  const drawing = ICONS[name];
  const solid = drawing.endsWith("!");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", solid ? "icon solid" : "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", solid ? drawing.slice(0, -1) : drawing);
  svg.append(path);
  return svg;
}

// ---------------------------------------------------------------- controls

export interface ButtonOptions {
  icon?: IconName;
  /** Shown on hover, with the key that does the same; the label where only an icon is shown. */
  title?: string;
  kind?: "plain" | "primary" | "quiet" | "danger";
  /** Show the icon alone; the label is read out. */
  iconOnly?: boolean;
  disabled?: boolean;
}

export function button(label: string, onClick: (event: MouseEvent) => void, options: ButtonOptions = {}): HTMLButtonElement {
  const element = el("button", {
    class: `button ${options.kind ?? "plain"}${options.iconOnly ? " square" : ""}`,
    title: options.title ?? (options.iconOnly ? label : ""),
    disabled: options.disabled ?? false,
    attrs: { type: "button" },
    on: { click: onClick },
  });
  if (options.icon) element.append(icon(options.icon));
  if (options.iconOnly) element.setAttribute("aria-label", label);
  else element.append(el("span", {}, label));
  return element;
}

/** A button that stays pressed; `set` shows the state without calling `onChange`. */
export function toggle(
  label: string,
  pressed: boolean,
  onChange: (pressed: boolean) => void,
  options: ButtonOptions = {},
): HTMLButtonElement & { set(pressed: boolean): void } {
  const element = button(label, () => onChange(element.getAttribute("aria-pressed") !== "true"), options);
  const set = (now: boolean) => element.setAttribute("aria-pressed", String(now));
  set(pressed);
  return Object.assign(element, { set });
}

export interface SliderOptions {
  min: number;
  max: number;
  step: number;
  value: number;
  /** The value as shown beside the slider, with its unit. */
  format?: (value: number) => string;
  /** While it moves. */
  onInput?: (value: number) => void;
  /** When it rests, and when a number is typed. */
  onChange?: (value: number) => void;
  hint?: string;
}

export interface Control<T> {
  element: HTMLElement;
  /** Show a value without calling back; ignored while the control is being used. */
  set(value: T): void;
  /** Show a sentence below it in red; null takes it away. */
  setError(text: string | null): void;
}

let controls = 0;

function control(label: string, input: HTMLElement, hint: string | undefined, side?: HTMLElement) {
  const id = `control-${++controls}`;
  input.id = id;
  const problem = el("p", { class: "problem", id: `${id}-problem`, hidden: true, attrs: { role: "alert" } });
  const element = el(
    "div",
    { class: "control", ...(hint ? { title: hint } : {}) },
    el("label", { attrs: { for: id } }, label),
    side ?? null,
    input,
    problem,
  );
  const setError = (text: string | null) => {
    problem.hidden = text === null;
    problem.textContent = text;
    input.setAttribute("aria-invalid", String(text !== null));
    if (text === null) input.removeAttribute("aria-describedby");
    else input.setAttribute("aria-describedby", problem.id);
  };
  return { element, setError };
}

/** A slider with a number beside it that can be typed. */
export function slider(label: string, options: SliderOptions): Control<number> & { setMax(max: number): void } {
  const { min, step } = options;
  let { max } = options;
  const input = el("input", { attrs: { type: "range", min, max, step } });
  const typed = el("input", { class: "typed", attrs: { type: "text", inputmode: "decimal", "aria-label": `${label}, as a number` } });
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const format = options.format ?? ((value: number) => value.toFixed(digits));
  let value = options.value;
  const show = () => {
    input.value = String(value);
    input.style.setProperty("--share", String((value - min) / (max - min)));
    typed.value = format(value);
    input.setAttribute("aria-valuetext", format(value));
  };
  input.addEventListener("input", () => {
    value = Number(input.value);
    show();
    options.onInput?.(value);
  });
  input.addEventListener("change", () => options.onChange?.(value));
  typed.addEventListener("focus", () => typed.select());
  typed.addEventListener("change", () => {
    const number = Number.parseFloat(typed.value.replace(",", "."));
    if (Number.isFinite(number)) {
      value = Math.min(max, Math.max(min, number));
      options.onInput?.(value);
      options.onChange?.(value);
    }
    show();
  });
  show();
  const { element, setError } = control(label, input, options.hint, typed);
  element.classList.add("slider");
  return {
    element,
    setError,
    setMax(now) {
      input.max = String((max = now));
      show();
    },
    set(now) {
      if (isTyped(typed) || input.matches(":active")) return;
      value = now;
      fillField(typed, format(value));
      show();
    },
  };
}

export function select<T extends string>(
  label: string,
  choices: readonly { value: T; label: string }[],
  value: T,
  onChange: (value: T) => void,
  hint?: string,
): Control<T> & { setChoices(choices: readonly { value: T; label: string }[]): void } {
  const input = el("select", { on: { change: () => onChange(input.value as T) } });
  const setChoices = (now: readonly { value: T; label: string }[]) => {
    const held = input.value;
    fill(input, ...now.map((choice) => el("option", { attrs: { value: choice.value } }, choice.label)));
    input.value = held || value;
  };
  setChoices(choices);
  input.value = value;
  const { element, setError } = control(label, input, hint);
  return { element, setError, setChoices, set: (now) => (input.value = now) };
}

/** A few choices beside each other, of which one is pressed. */
export function segments(
  label: string,
  choices: readonly string[],
  value: string,
  onChange: (value: string) => void,
  hint?: string,
): Control<string> {
  const buttons = choices.map((choice) => toggle(choice, choice === value, () => (set(choice), onChange(choice))));
  const set = (now: string) => buttons.forEach((one, k) => one.set(choices[k] === now));
  const { element, setError } = control(label, el("div", { class: "segments", attrs: { role: "group", "aria-label": label } }, ...buttons), hint);
  return { element, setError, set };
}

export function checkbox(label: string, value: boolean, onChange: (value: boolean) => void, hint?: string): Control<boolean> {
  const input = el("input", { attrs: { type: "checkbox" }, on: { change: () => onChange(input.checked) } });
  input.checked = value;
  const { element, setError } = control(label, input, hint);
  element.classList.add("check");
  return { element, setError, set: (now) => (input.checked = now) };
}

export function textField(
  label: string,
  value: string,
  onChange: (value: string) => void,
  placeholder = "",
  hint?: string,
): Control<string> {
  const input = el("input", { attrs: { type: "text", placeholder }, on: { change: () => onChange(input.value) } });
  input.value = value;
  const { element, setError } = control(label, input, hint);
  return {
    element,
    setError,
    set: (now) => fillField(input, now),
  };
}

interface NumberOptions<T> {
  min: number;
  max: number;
  step: number;
  value: T;
  unit?: string;
  hint?: string;
  onChange: (value: T) => void;
}

/** A number with as many places as are of use, and as there is room for. */
const readable = (value: number): string => String(Number(Math.abs(value) < 0.1 ? value.toPrecision(4) : value.toFixed(4)));

export const numberField = (label: string, options: NumberOptions<number>): Control<number> =>
  optionalNumber(label, {
    ...options,
    empty: null,
    onChange: (value) => value !== null && options.onChange(value),
  }) as Control<number>;

/** A number that may be left empty; `empty` says what that means, null that it may not. */
export function optionalNumber(
  label: string,
  options: NumberOptions<number | null> & { empty: string | null },
): Control<number | null> {
  const { min, max, step, empty } = options;
  const input = el("input", { attrs: { type: "number", min, max, step, placeholder: empty ?? "" } });
  let value = options.value;
  const said = () => (value === null ? "" : readable(value));
  const show = () => (input.value = said());
  show();
  input.addEventListener("change", () => {
    const number = input.valueAsNumber;
    if (Number.isFinite(number)) options.onChange((value = Math.min(max, Math.max(min, number))));
    else if (empty !== null) options.onChange((value = null));
    show();
  });
  const { element, setError } = control(options.unit ? `${label}, ${options.unit}` : label, input, options.hint);
  element.classList.add("number");
  return {
    element,
    setError,
    set(now) {
      value = now;
      fillField(input, said());
    },
  };
}

/** A part of a panel, under a heading; `fold` makes it one that opens. */
export function section(title: string, fold: "open" | "closed" | null, ...children: Child[]): HTMLElement {
  if (fold === null) return el("section", { class: "section" }, el("h2", {}, title), ...children);
  const body = el("details", { class: "section" }, el("summary", {}, el("h2", {}, title)), ...children);
  body.open = fold === "open";
  return body;
}

// ---------------------------------------------------------------- things on top

/** A dialog that closes with Escape, its cross, or `close`; removed when closed. */
export function dialog(title: string, ...children: Child[]): HTMLDialogElement {
  const id = `dialog-${++controls}`;
  const element = el(
    "dialog",
    { class: "dialog", attrs: { "aria-labelledby": id } },
    el("header", {}, el("h1", { id }, title), button("Close", () => element.close(), { icon: "close", iconOnly: true, kind: "quiet" })),
    el("div", { class: "body" }, ...children),
  );
  element.addEventListener("close", () => element.remove());
  element.addEventListener("pointerdown", (event) => {
    if (event.target === element) element.close(); // the backdrop
  });
  document.body.append(element);
  element.showModal();
  return element;
}

export interface MenuItem {
  label: string;
  icon?: IconName;
  hint?: string;
  disabled?: boolean;
  run(): void;
}

/** A menu below a button; arrows, Home, End, Escape and letters as in any menu. */
export function menu(anchor: HTMLElement, items: readonly MenuItem[]): void {
  const entries = items.map((item) => {
    const entry = el(
      "button",
      { class: "item", disabled: item.disabled ?? false, attrs: { type: "button", role: "menuitem", tabindex: -1 } },
      item.icon ? icon(item.icon) : null,
      el("span", {}, item.label),
      item.hint ? el("kbd", {}, item.hint) : null,
    );
    entry.addEventListener("click", () => {
      list.hidePopover();
      item.run();
    });
    return entry;
  });
  const list = el("div", { class: "menu", attrs: { role: "menu", popover: "auto" } }, ...entries);
  list.addEventListener("keydown", (event) => {
    const ready = entries.filter((entry) => !entry.hasAttribute("disabled"));
    const at = ready.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: ready.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    ready[(to + ready.length) % ready.length]?.focus();
  });
  list.addEventListener("toggle", (event) => {
    anchor.setAttribute("aria-expanded", String(event.newState === "open"));
    if (event.newState === "closed") {
      list.remove();
      if (document.activeElement === document.body) anchor.focus();
    }
  });
  document.body.append(list);
  list.showPopover();
  place(list, anchor);
  entries.find((entry) => !entry.hasAttribute("disabled"))?.focus();
}

/** Put a popover below (or above) its button, inside the window. */
export function place(popover: HTMLElement, anchor: HTMLElement): void {
  const box = anchor.getBoundingClientRect();
  const size = popover.getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left, innerWidth - size.width - 8));
  const below = box.bottom + 4 + size.height <= innerHeight - 8;
  popover.style.left = `${left}px`;
  popover.style.top = `${below ? box.bottom + 4 : Math.max(8, box.top - 4 - size.height)}px`;
}
