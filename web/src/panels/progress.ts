/** Where a long job is, with a way to stop it, and the sentence it failed with; for panels that start jobs. */

import { button, el, fill } from "../dom";
import type { Job } from "../messages";
import type { Context } from "../types";

export const underWay = (job: Job): boolean => job.state === "waiting" || job.state === "running";

/** The newest job of these kinds; null if there was none. */
export function newest(jobs: readonly Job[], kinds: readonly string[]): Job | null {
  return jobs.filter((job) => kinds.includes(job.kind)).sort((a, b) => b.started - a.started)[0] ?? null;
}

/** A bar of how far a job is; without a total it moves from side to side. */
export function bar(job: Pick<Job, "title" | "done" | "total">): HTMLProgressElement {
  const element = el("progress", { attrs: { "aria-label": job.title, max: 1 } });
  if (job.total > 0) element.value = job.done / job.total;
  return element;
}

/** An element that shows the newest job of these kinds while it runs, and what went wrong, if something did.
    Of what a verb was asked its panel says itself what went wrong, beside the field that it is about. */
export function jobStrip(context: Context, kinds: readonly string[]): HTMLElement {
  const strip = el("div", { class: "job-strip", attrs: { "aria-live": "polite" } });
  let dismissed = "";
  const isAsked = ({ kind }: Job) => context.store.state.verbs.some(({ name }) => name === kind);
  const show = (job: Job | null) => {
    const failed = job !== null && job.error !== null && !isAsked(job);
    strip.hidden = job === null || (!failed && !underWay(job)) || job.id === dismissed;
    if (strip.hidden || job === null) return fill(strip);
    if (failed) {
      const dismiss = button("Dismiss", () => ((dismissed = job.id), show(job)), {
        icon: "close",
        iconOnly: true,
        kind: "quiet",
      });
      return fill(strip, el("p", { class: "problem", attrs: { role: "alert" } }, job.error!), dismiss);
    }
    const stage = job.stage || (job.state === "waiting" ? "waiting" : "");
    const share = job.total > 0 ? ` ${Math.round((100 * job.done) / job.total)} %` : "";
    return fill(
      strip,
      el("p", { class: "quiet-text" }, [job.title, stage].filter(Boolean).join(": ") + share),
      bar(job),
      button(
        "Cancel",
        () => context.api.cancel(job.id).catch((error: Error) => context.store.say(error.message, "error")),
      ),
    );
  };
  context.store.subscribe((state) => newest(state.jobs, kinds), show);
  return strip;
}
