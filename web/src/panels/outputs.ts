/** Files besides the motion that can be had of a result: tables, pictures, models. */

import { button, el } from "../dom";
import type { Job, Result, VerbFacts } from "../messages";
import type { Context } from "../types";
import { jobStrip, underWay } from "./progress";

/** A button for each kind of file; `result` says of what. */
export function outputButtons(context: Context, verb: VerbFacts, result: () => Result | null): { element: HTMLElement; update(): void } {
  const { api, store } = context;
  const buttons = verb.outputs.flatMap(({ name, help, suffixes }) =>
    suffixes.slice(0, name === "picture" ? 1 : undefined).map((suffix) =>
      button(`${name[0]!.toUpperCase()}${name.slice(1)} ${suffix}`, () => void make(name, suffix), { title: help }),
    ),
  );
  const make = async (output: string, suffix: string) => {
    const made = result();
    if (!made) return;
    try {
      const job = await api.start({ kind: "output", ask: { result: made.id, output, suffix } });
      const leave = store.subscribe(
        (state) => state.jobs.find(({ id }) => id === job.id),
        (now) => {
          if (!now || underWay(now)) return;
          queueMicrotask(() => leave());
          if (now.state === "done") fetchAll(now);
        },
      );
    } catch (error) {
      store.say((error as Error).message, "error");
    }
  };
  const update = () => {
    for (const one of buttons) one.disabled = result() === null;
  };
  update();
  return { element: el("div", {}, el("div", { class: "row wrap outputs" }, ...buttons), jobStrip(context, ["output"])), update };
}

function fetchAll(job: Job): void {
  for (const file of job.results) {
    const link = el("a", { hidden: true, attrs: { href: `/api/exports/${job.id}/${encodeURIComponent(file)}`, download: file } });
    document.body.append(link);
    link.click();
    link.remove();
  }
}
