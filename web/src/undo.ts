/** The two buttons that go back and forth through the document, and say through what. */

import { button } from "./dom";
import type { Store } from "./types";

export function undoButtons(store: Store): HTMLElement[] {
  const make = (way: "undo" | "redo", verb: string, key: string) => {
    const element = button(verb, () => void store[way](), { icon: way, iconOnly: true, kind: "quiet" });
    store.subscribe(
      (state) => state[way],
      (name) => {
        const label = name === null ? `Nothing to ${way}` : `${verb} “${name}”`;
        element.disabled = name === null;
        element.title = `${label} (${key})`;
        element.setAttribute("aria-label", label);
      },
    );
    return element;
  };
  return [make("undo", "Undo", "Ctrl+Z"), make("redo", "Redo", "Ctrl+Y")];
}
