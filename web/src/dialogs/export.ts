/** Download a motion: motion files, a film, a picture. */

import { button, checkbox, dialog, el, fill, optionalNumber, section, select } from "../dom";
import type { Job, JobAsk, Plain } from "../messages";
import { requestForm } from "../panels/form";
import { bar, underWay } from "../panels/progress";
import type { Schema } from "../panels/schema";
import { nameOf } from "../panels/subject";
import { isListed, shownIds } from "../shown";
import type { Context } from "../types";
import { codeButton } from "./share";
import "../panels.css";

const NAMES: Record<string, string> = {
  ".glb": "glTF: game engines, browsers, Blender",
  ".gltf": "glTF as text",
  ".bvh": "BVH: nearly everything",
  ".amc": "ASF and AMC: Acclaim skeleton and motion",
  ".asf": "ASF: Acclaim skeleton",
  ".npz": "NumPy arrays",
  ".csv": "Table of positions",
  ".usda": "USD as text",
  ".usdc": "USD: film tools",
  ".usd": "USD: film tools",
  ".usdz": "USD, packed",
  ".mp4": "Film",
  ".gif": "Film that loops, for pages and mails",
  ".png": "Picture",
};
const PICTURES = [".mp4", ".gif", ".png"];

/** What was chosen last, for as long as the page is open. */
let usual = ".glb";
let settings: Record<string, Plain> = {};
let width: number | null = null;
let still = false;
let transparent = false;

export function openExport(context: Context, motion?: string): void {
  const { store } = context;
  const wanted = motion ?? shownIds(store.state)[0];
  if (document.querySelector("dialog.export")) return;
  const suffixes = [...new Set([...store.state.formats, ...PICTURES])];
  if (!suffixes.includes(usual)) usual = suffixes[0]!;
  const body = el("div", {});
  const box = dialog("Export", body);
  box.classList.add("export");
  if (wanted === undefined) {
    fill(
      body,
      el("p", {}, "There is nothing on the stage to export."),
      el("p", { class: "quiet-text" }, "Draw a path, or press a clip in the library."),
    );
    return;
  }
  const titles = new Map(motions(context).map(({ id, title }) => [id, title]));
  if (!titles.has(wanted)) titles.set(wanted, context.stage.shown.find(({ id }) => id === wanted)?.name ?? wanted);
  let chosen = wanted;
  const which = select<string>(
    "Motion",
    [...titles].map(([value, label]) => ({ value, label })),
    chosen,
    (id) => (chosen = id),
  );
  const kind = select<string>(
    "As",
    suffixes.map((value) => ({ value, label: `${NAMES[value] ?? "Motion file"} (${value})` })),
    usual,
    (suffix) => ((usual = suffix), showOptions()),
  );
  const form = requestForm(store.state.exporting as Schema, {
    edit(_label, change) {
      settings = structuredClone(settings);
      change(settings);
      form.clear();
      form.set(settings);
    },
  });
  form.set(settings);
  const files = section("How the file is written", Object.keys(settings).length > 0 ? "open" : "closed", form.element);
  const drawing = el("div", { class: "form" });

  /** Motion files have settings of their own, films and pictures a size. */
  function showOptions(): void {
    const drawn = PICTURES.includes(usual);
    files.hidden = drawn;
    drawing.hidden = !drawn;
    const across = optionalNumber("Width", {
      min: 64,
      max: 7680,
      step: 1,
      unit: "pixels",
      value: width,
      empty: "usual",
      onChange: (value) => (width = value === null ? null : Math.round(value)),
    });
    const one = checkbox("The frame on the stage, not a sheet", still, (on) => ((still = on), showOptions()));
    const clear = checkbox("Transparent ground", transparent, (on) => (transparent = on));
    const picture = usual === ".png" ? [one.element, ...(still ? [clear.element] : [])] : [];
    fill(drawing, across.element, ...picture);
  }
  showOptions();
  const state = el("div", { class: "export-state", attrs: { "aria-live": "polite" } });
  const start = button("Export", () => void run(), { kind: "primary", icon: "export" });
  const ask = (): JobAsk => {
    const made: Record<string, Plain> = { motion: chosen, suffix: usual };
    if (!PICTURES.includes(usual)) made["export"] = settings;
    else {
      if (width !== null) made["width"] = width;
      if (usual === ".png" && still) Object.assign(made, { frame: Math.round(context.stage.player.frame), transparent });
    }
    return { kind: "export", ask: made };
  };
  const code = codeButton(context, () => `Export ${titles.get(chosen)!}`, ask);
  fill(body, which.element, kind.element, files, drawing, el("div", { class: "row end" }, code, start), state);
  start.focus();

  async function run(): Promise<void> {
    start.disabled = true;
    fill(state, el("p", { class: "quiet-text" }, "waiting")); // what an earlier one gave is not this one's
    try {
      const job = await context.api.start(ask());
      watchJob(job.id);
    } catch (error) {
      start.disabled = false;
      fill(state, el("p", { class: "problem", attrs: { role: "alert" } }, (error as Error).message));
    }
  }

  function watchJob(id: string): void {
    const leave = store.subscribe(
      (now) => now.jobs.find((job) => job.id === id),
      (job) => {
        if (!job) return;
        show(job);
        if (underWay(job)) return;
        start.disabled = false;
        queueMicrotask(() => leave()); // subscribe calls at once, before it returns the way out
        if (job.state === "done") {
          for (const file of job.results) download(`/api/exports/${job.id}/${encodeURIComponent(file)}`, file);
        }
      },
    );
  }

  function show(job: Job): void {
    if (underWay(job)) {
      const cancel = button(
        "Cancel",
        () => void context.api.cancel(job.id).catch((error: Error) => store.say(error.message, "error")),
      );
      return fill(state, el("p", { class: "quiet-text" }, job.stage || "waiting"), bar(job), cancel);
    }
    if (job.state === "cancelled") {
      return fill(state, el("p", { class: "quiet-text" }, "Cancelled; nothing was written."));
    }
    if (job.state === "failed") {
      return fill(state, el("p", { class: "problem", attrs: { role: "alert" } }, job.error ?? "It failed."));
    }
    const links = job.results.map((file) =>
      el("a", { attrs: { href: `/api/exports/${job.id}/${encodeURIComponent(file)}`, download: file } }, file)
    );
    return fill(state, el("p", {}, "Done; the browser has "), ...links);
  }
}

function motions(context: Context): { id: string; title: string }[] {
  const { state } = context.store;
  const { results, clips } = state;
  const onStage = shownIds(state);
  const listed = results.filter((result) => isListed(state, result) || result.motions.some(({ id }) => onStage.includes(id)));
  const found = listed.flatMap((result) =>
    result.motions.map(({ id, name }) => ({
      id,
      title: result.motions.length > 1 ? `${nameOf(state, result)}: ${name}` : nameOf(state, result),
    }))
  );
  const shown = clips.filter(({ id }) => onStage.includes(id)).map(({ id, name }) => ({ id, title: name }));
  return [...shown, ...found];
}

function download(href: string, file: string): void {
  const link = el("a", { hidden: true, attrs: { href, download: file } });
  document.body.append(link);
  link.click();
  link.remove();
}
