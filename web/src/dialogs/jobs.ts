/** Work that takes a while: a ring in the bar, and a list of what runs, how far it is, and a way to stop it. */

import { button, el, fill, icon, place } from "../dom";
import type { Job } from "../messages";
import type { Api, Store } from "../types";

const SHOWN_DONE = 5;

export function jobsButton(store: Store, api: Api): HTMLElement {
  const [back, front] = [circle(), circle()];
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  ring.setAttribute("viewBox", "0 0 18 18");
  ring.setAttribute("class", "ring");
  ring.setAttribute("aria-hidden", "true");
  ring.append(back, front);
  const list = el("div", { class: "jobs", attrs: { popover: "auto", role: "dialog", "aria-label": "Jobs" } });
  const element = el(
    "button",
    { class: "button quiet square jobs-button", attrs: { type: "button", "aria-haspopup": "dialog" } },
    icon("jobs"),
    ring,
  );
  element.addEventListener("click", () => {
    if (list.matches(":popover-open")) return list.hidePopover();
    document.body.append(list);
    list.showPopover();
    place(list, element);
  });
  store.subscribe(
    (state) => state.jobs,
    (jobs) => {
      const running = jobs.filter((job) => job.state === "running" || job.state === "waiting");
      const share = running.length ? running.reduce((sum, job) => sum + part(job), 0) / running.length : 0;
      element.querySelector(".icon")!.toggleAttribute("hidden", running.length > 0);
      ring.toggleAttribute("hidden", running.length === 0);
      front.style.strokeDashoffset = String(1 - Math.max(share, 0.04));
      const words = running.length === 0 ? "Jobs: nothing is running" : `Jobs: ${running.map(told).join("; ")}`;
      element.title = words;
      element.setAttribute("aria-label", words);
      element.dataset.running = String(running.length);
      const recent = jobs.filter((job) => !running.includes(job)).slice(-SHOWN_DONE).reverse();
      const rows = [...running, ...recent].map((job) => row(job, api, store));
      if (rows.length) fill(list, el("ul", {}, ...rows));
      else fill(list, el("p", { class: "quiet-text" }, "Nothing is running. Building, importing and exporting show here."));
    },
  );
  return element;
}

function row(job: Job, api: Api, store: Store): HTMLElement {
  const open = job.state === "running" || job.state === "waiting";
  const bar = el("progress", { attrs: { max: 1, "aria-label": job.title } });
  if (job.total > 0) bar.value = part(job);
  const cancel = () => void api.cancel(job.id).catch((error: Error) => store.say(error.message, "error"));
  return el(
    "li",
    {},
    el("span", {}, job.title),
    open ? button("Cancel", cancel, { kind: "quiet" }) : el("span", { class: "quiet-text" }, ended(job)),
    open ? bar : null,
    open ? el("span", { class: "stage-of" }, job.state === "waiting" ? "waiting" : job.stage) : null,
    job.error ? el("p", { class: "problem" }, job.error) : null,
  );
}

function part(job: Job): number {
  return job.total > 0 ? job.done / job.total : 0;
}

function told(job: Job): string {
  return job.total > 0 ? `${job.title}, ${Math.round(100 * part(job))} %` : job.title;
}

function ended(job: Job): string {
  return job.state === "done" ? `${job.seconds.toFixed(1)} s` : job.state;
}

function circle(): SVGCircleElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  for (const [name, value] of Object.entries({ cx: 9, cy: 9, r: 7, pathLength: 1 })) element.setAttribute(name, String(value));
  return element;
}
