/** All keys, and how the pointer works on the stage. */

import { dialog, el } from "../dom";
import type { Key } from "../keys";

const POINTER: [string, string][] = [
  ["Draw, or turn the camera", "drag"],
  ["Turn the camera", "right drag"],
  ["Move along", "Shift+drag"],
  ["Nearer, farther", "wheel, pinch"],
  ["Turn while drawing", "two fingers"],
  ["Timeline: less or more of it, along it", "wheel, Shift+wheel"],
  ["Delete, nudge what was pressed last", "Del, arrows"],
];

export function openHelp(keys: readonly Key[], about: string): void {
  const line = (label: string, shown: string) =>
    el("div", {}, el("dt", {}, label), el("dd", {}, ...shown.split(/(?<!–) (?!–)/).flatMap((key) => [el("kbd", {}, key), " "])));
  const groups = (["Time", "View", "Project"] as const).flatMap((group) => [
    el("h2", {}, group),
    ...keys.filter((key) => key.group === group && key.shown).map((key) => line(key.label, key.shown)),
  ]);
  const pointer = POINTER.map(([label, how]) => el("div", {}, el("dt", {}, label), el("dd", { class: "quiet-text" }, how)));
  dialog(
    "Keys",
    el("dl", { class: "keys" }, ...groups, el("h2", {}, "Pointer, on the stage"), ...pointer),
    el("p", { class: "quiet-text about" }, about),
  );
}
