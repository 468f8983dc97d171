/** Showing state without flicker: draw once for many changes, only for real ones, and leave the focus where it was. */

import { fill } from "../dom";
import type { State, Store } from "../types";

/** Calls `fn` in a moment, once, however often it is called; whoever had the focus has moved on by then. */
export function later(fn: () => void): () => void {
  let waiting = 0;
  return () => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(fn, 0);
  };
}

/** The selected value, the same object for as long as it says the same: documents are copied whole at each change. */
function stable<T>(selector: (state: State) => T): (state: State) => T {
  let held: T | undefined;
  let text = "";
  let seen: T | undefined;
  return (state) => {
    const value = selector(state);
    if (seen !== undefined && Object.is(value, seen)) return held as T;
    seen = value;
    const now = JSON.stringify(value) ?? "";
    if (now !== text || held === undefined) [held, text] = [value, now];
    return held;
  };
}

/** Calls `fn` soon after any of the selected values became another one, and now. */
export function watch(
  store: Store,
  selectors: readonly ((state: State) => unknown)[],
  fn: (state: State) => void,
): void {
  const draw = later(() => fn(store.state));
  for (const selector of selectors) store.subscribe(stable(selector), draw);
}

const CONTROLS = "input, select, button, textarea, [tabindex]";

/** New content in place of the old; the control in the same place keeps the focus. */
export function refill(parent: HTMLElement, ...children: Parameters<typeof fill>[1][]): void {
  const at = [...parent.querySelectorAll(CONTROLS)].indexOf(document.activeElement!);
  fill(parent, ...children);
  if (at >= 0) [...parent.querySelectorAll<HTMLElement>(CONTROLS)][at]?.focus({ preventScroll: true });
}
