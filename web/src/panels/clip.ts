/** The chosen clip: its name, the part of it that is used, mirroring, labels. */

import { button, checkbox, el, icon, numberField, textField } from "../dom";
import type { ClipEntry, LabelRange, Motion } from "../messages";
import type { Context, State } from "../types";
import { motionOf, recordingOf, removeClip, shownClips } from "./clips";
import { refill, watch } from "./watch";

export function clipEditor(context: Context) {
  const { store, timeline } = context;
  const element = el("section", { class: "section clip-editor", attrs: { "aria-label": "The chosen clip" } });
  let visible = false;

  /** The one clip that can be edited: the only one on the stage. */
  const chosen = (state: State): ClipEntry | undefined => {
    const ids = shownClips(state);
    return ids.length === 1 ? state.document.clips.find((entry) => entry.id === ids[0]) : undefined;
  };

  function edit(label: string, entry: ClipEntry, change: (clip: ClipEntry) => void): void {
    void store.change(`${label} ${entry.name}`, (document) => {
      const clip = document.clips.find((known) => known.id === entry.id);
      if (clip) change(clip);
    });
  }

  function show(state: State): void {
    const entry = visible ? chosen(state) : undefined;
    const motion = entry && motionOf(state, entry);
    const recording = entry && recordingOf(state, entry);
    element.hidden = !entry || !motion || !recording;
    if (!entry || !motion || !recording) {
      if (visible) timeline.setRange(null);
      return refill(element);
    }
    const [start, stop] = entry.trim ?? [0, recording.frames];
    const trim = (from: number, to: number) => {
      const range: [number, number] = [Math.max(0, from), Math.min(recording.frames, to)];
      if (range[1] - range[0] < 2 || (range[0] === start && range[1] === stop)) return show(store.state);
      edit("Trim", entry, (clip) => trimTo(clip, range, recording.frames));
    };
    const step = { min: 0, max: recording.frames, step: 1 };
    timeline.setRange({
      start: 0,
      stop: stop - start,
      least: -start,
      most: recording.frames - start,
      change: (from, to, done) => done && trim(start + Math.round(from), start + Math.round(to)),
    });
    refill(
      element,
      textField("Name", entry.name, (name) => name.trim() && edit("Rename", entry, (clip) => (clip.name = name.trim())))
        .element,
      el(
        "div",
        { class: "pair" },
        numberField("From frame", { ...step, value: start, onChange: (value) => trim(value, stop) }).element,
        numberField("Up to frame", { ...step, value: stop, onChange: (value) => trim(start, value) }).element,
      ),
      entry.trim ? button("Use the whole recording", () => trim(0, recording.frames), { kind: "quiet" }) : null,
      checkbox(
        "Mirrored, left for right",
        entry.mirrored,
        (on) => edit(on ? "Mirror" : "Unmirror", entry, (clip) => (clip.mirrored = on)),
      ).element,
      labelEditor(entry, motion, (label, labels) => edit(label, entry, (clip) => (clip.labels = labels))),
      ...recording.notes.map((note) => el("p", { class: "note" }, icon("warning"), note)),
      button("Remove from the library", () => removeClip(context, entry.id), { icon: "trash", kind: "danger" }),
    );
  }

  watch(store, [(state) => state.view.shown, (state) => state.document.clips, (state) => state.clips], show);
  return {
    element,
    show(now: boolean): void {
      visible = now;
      if (!now) timeline.setRange(null);
      show(store.state);
    },
  };
}

/** Use these frames of the recording; labels stay on the frames that they were put on. */
function trimTo(clip: ClipEntry, range: [number, number], frames: number): void {
  const shift = (clip.trim?.[0] ?? 0) - range[0];
  const count = range[1] - range[0];
  clip.labels = clip.labels
    ?.map(({ text, start, stop }) => ({ text, start: Math.max(0, start + shift), stop: Math.min(count, stop + shift) }))
    .filter(({ start, stop }) => start < stop) ?? null;
  clip.trim = range[0] === 0 && range[1] === frames ? null : range;
}

function labelEditor(
  entry: ClipEntry,
  motion: Motion,
  change: (label: string, labels: LabelRange[]) => void,
): HTMLElement {
  const labels = entry.labels ?? motion.labels;
  const changed = (k: number, part: Partial<LabelRange>) => {
    const next = { ...labels[k]!, ...part };
    if (next.text.trim() && next.start < next.stop) change("Relabel", labels.with(k, next));
  };
  const frame = (k: number, name: "start" | "stop", said: string) => {
    const input = el("input", {
      attrs: {
        type: "number",
        min: 0,
        max: motion.frames,
        "aria-label": `${said} frame of the label ${labels[k]!.text}`,
      },
      on: {
        change: () =>
          changed(k, { [name]: Math.min(motion.frames, Math.max(0, Math.round(input.valueAsNumber || 0))) }),
      },
    });
    input.value = String(labels[k]![name]);
    return input;
  };
  const rows = labels.map((label, k) => {
    const text = el("input", {
      attrs: { type: "text", "aria-label": "Label" },
      on: { change: () => changed(k, { text: text.value.trim() }) },
    });
    text.value = label.text;
    const remove = button(`Remove the label ${label.text}`, () => change("Relabel", labels.toSpliced(k, 1)), {
      icon: "close",
      iconOnly: true,
      kind: "quiet",
    });
    return el(
      "div",
      { class: "label-row" },
      text,
      frame(k, "start", "First"),
      el("span", { class: "quiet-text" }, "–"),
      frame(k, "stop", "Last"),
      remove,
    );
  });
  const add = () => change("Label", [...labels, { text: "walk", start: 0, stop: motion.frames }]);
  return el(
    "fieldset",
    { class: "labels" },
    el("legend", {}, "Labels"),
    ...rows,
    labels.length === 0
      ? el("p", { class: "quiet-text" }, "A label says what happens, such as walk or run; paths can ask for it.")
      : null,
    button("Add a label", add, { icon: "plus", kind: "quiet" }),
  );
}
