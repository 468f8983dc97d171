/** Keys: one list for what they do and for the page that tells about them. */

import type { Context } from "./types";
import { isField, isTyped, listenToTyping } from "./typing";

export interface Key {
  group: "Time" | "View" | "Project";
  /** As shown: "Shift+←". */
  shown: string;
  label: string;
  /** As the browser names it, with "Ctrl+" and "Shift+" before it. */
  press: string[];
  run(): void;
}

export interface PageActions {
  toggleSide(side: "left" | "right"): void;
  toggleTheme(): void;
}

export function makeKeys({ stage, store, timeline, openExport, openHelp }: Context, page: PageActions): Key[] {
  const { player } = stage;
  const second = () => Math.round(player.fps);
  const flip = (name: "ghosts" | "paths" | "contacts" | "follow_camera" | "loop") => () =>
    store.setView({ [name]: !store.state.view[name] });
  const key = (group: Key["group"], shown: string, label: string, press: string[], run: () => void): Key => ({
    group, shown, label, press, run,
  });
  return [
    key("Time", "Space", "Play or pause", [" "], () => player.toggle()),
    key("Time", "← →", "One frame", ["ArrowLeft"], () => player.step(-1)),
    key("Time", "", "", ["ArrowRight"], () => player.step(1)),
    key("Time", "Shift+← →", "One second", ["Shift+ArrowLeft", "PageDown"], () => player.step(-second())),
    key("Time", "", "", ["Shift+ArrowRight", "PageUp"], () => player.step(second())),
    key("Time", "Home End", "First or last frame", ["Home"], () => player.seek(0)),
    key("Time", "", "", ["End"], () => player.seek(player.frames - 1)),
    key("Time", "+ -", "Less or more of the timeline", ["+", "Shift++", "="], () => timeline.zoom("in")),
    key("Time", "", "", ["-"], () => timeline.zoom("out")),
    key("Time", "L", "Loop", ["l"], flip("loop")),
    key("View", "F", "Camera follows the figure", ["f"], flip("follow_camera")),
    key("View", "1 – 5", "Three quarters, front, side, back, above", ["1"], () => stage.camera.view(1)),
    ...[2, 3, 4, 5].map((number) => key("View", "", "", [String(number)], () => stage.camera.view(number))),
    key("View", "G", "Ghosts", ["g"], flip("ghosts")),
    key("View", "P", "Paths", ["p"], flip("paths")),
    key("View", "B", "Foot contacts", ["b"], flip("contacts")),
    key("View", "[ ]", "Left or right column", ["["], () => page.toggleSide("left")),
    key("View", "", "", ["]"], () => page.toggleSide("right")),
    key("View", "T", "Light or dark", ["t"], () => page.toggleTheme()),
    key("Project", "Ctrl+Z", "Undo", ["Ctrl+z"], () => void store.undo()),
    key("Project", "Ctrl+Y", "Redo", ["Ctrl+y", "Ctrl+Shift+z"], () => void store.redo()),
    key("Project", "Ctrl+E", "Export", ["Ctrl+e"], () => openExport()),
    key("Project", "?", "All keys", ["?", "Shift+?"], () => openHelp()),
  ];
}

/** Whether the element under focus wants this key for itself. */
function taken(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  if (document.querySelector("dialog[open]") || target.closest("[popover]")) return true;
  const ctrl = event.ctrlKey || event.metaKey;
  if (isField(target)) {
    const key = event.key.toLowerCase();
    // What is being typed has its own undo; where nothing is, the document's is meant.
    return !(ctrl && (key === "e" || (!isTyped(target) && (key === "z" || key === "y"))));
  }
  if (ctrl) return false;
  if (target.matches("input[type=range], select")) return /^(Arrow|Home|End|Page| )/.test(event.key);
  if (target.matches("[role=tab]")) return event.key.startsWith("Arrow") || event.key === " ";
  return target.matches("button, summary, a, input[type=checkbox]") && event.key === " ";
}

export function listen(keys: readonly Key[]): void {
  listenToTyping();
  const table = new Map(keys.flatMap((key) => key.press.map((press) => [press, key] as const)));
  window.addEventListener("keydown", (event) => {
    if (event.altKey || event.defaultPrevented || taken(event)) return;
    const ctrl = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const found = table.get(`${ctrl}${event.shiftKey ? "Shift+" : ""}${name}`) ?? (event.shiftKey ? undefined : table.get(ctrl + name));
    if (!found) return;
    event.preventDefault();
    found.run();
  });
  // A button that was clicked gives the focus back, so that Space goes on playing; keyboards keep theirs.
  document.addEventListener("click", (event) => {
    const pressed = (event.target as HTMLElement).closest("button");
    if (event.detail > 0 && pressed && !pressed.closest("dialog, [popover], .side")) pressed.blur();
  });
}
