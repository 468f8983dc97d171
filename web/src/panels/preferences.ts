/** Which clips a walk should rather stay in, and where it begins. */

import { clipColour } from "../colours";
import { type Control, el, numberField, select, slider } from "../dom";
import type { FollowAsk } from "../messages";
import type { Context } from "../types";
import { refill, watch } from "./watch";

/** Largest margin of the sliders, m²·s; the walk then hardly leaves the clip. */
const LARGEST = 0.05;
/** Sliders shown at a time; the others are found by name. */
const MOST = 40;

export function preferences(context: Context, edit: (label: string, change: (ask: FollowAsk) => void) => void) {
  const { store } = context;
  const list = el("div", { class: "preferences" });
  const search = el("input", {
    attrs: { type: "search", placeholder: "Find a clip", "aria-label": "Find a clip to prefer" },
    on: { input: () => draw() },
  });
  const begin = select<string>(
    "Begin in",
    [{ value: "", label: "any clip" }],
    "",
    (name) =>
      edit("Change where to begin", (ask) => Object.assign(ask, { start_clip: name || null, start_frame: null })),
  );
  const frame = numberField("At frame", {
    min: 0,
    max: 1e6,
    step: 1,
    value: 0,
    onChange: (value) => edit("Change where to begin", (ask) => (ask.start_frame = value)),
  });
  let sliders = new Map<string, Control<number>>();

  function draw(): void {
    const state = store.state;
    const words = search.value.toLowerCase();
    const { margins } = state.document.follow;
    const clips = (state.graph?.clips ?? []).filter((clip) =>
      clip.state === "kept" && clip.name.toLowerCase().includes(words)
    );
    clips.sort((a, b) => (margins[b.name] ?? 0) - (margins[a.name] ?? 0));
    sliders = new Map(clips.slice(0, MOST).map(({ name }) => [name, one(name)]));
    search.hidden = (state.graph?.clips.length ?? 0) <= 8;
    refill(
      list,
      ...[...sliders.values()].map((control) => control.element),
      clips.length > MOST ? el("p", { class: "quiet-text" }, `and ${clips.length - MOST} more`) : null,
    );
  }

  function one(name: string): Control<number> {
    const control = slider(name, {
      min: 0,
      max: LARGEST,
      step: 0.001,
      value: store.state.document.follow.margins[name] ?? 0,
      format: (value) => (value > 0 ? value.toFixed(3) : "–"),
      onInput: (value) =>
        edit(`Prefer ${name}`, (ask) => {
          if (value > 0) ask.margins[name] = value;
          else delete ask.margins[name];
        }),
    });
    control.element.style.setProperty("--clip", clipColour(name, store.state.document.clips));
    return control;
  }

  watch(store, [(state) => state.graph?.clips.map((clip) => clip.name)], (state) => {
    const names = state.graph?.clips.filter((clip) => clip.state === "kept").map((clip) => clip.name) ?? [];
    begin.setChoices([{ value: "", label: "any clip" }, ...names.map((name) => ({ value: name, label: name }))]);
    draw();
  });
  return {
    element: el(
      "div",
      {},
      begin.element,
      frame.element,
      el("p", { class: "quiet-text" }, "Stay in a clip unless another is better by this margin, in m²·s:"),
      search,
      list,
    ),
    set(ask: FollowAsk): void {
      begin.set(ask.start_clip ?? "");
      frame.element.hidden = ask.start_clip === null;
      frame.set(ask.start_frame ?? 0);
      for (const [name, control] of sliders) control.set(ask.margins[name] ?? 0);
    },
  };
}
