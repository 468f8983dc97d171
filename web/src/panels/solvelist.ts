/** The constraints as a list: what each asks for, how well it is met, and its numbers to be typed. */

import { button, el, icon } from "../dom";
import type { Plain, VerbFacts } from "../messages";
import type { Context } from "../types";
import { entrySchema } from "./completedraft";
import { requestForm } from "./form";
import { resolved, type Schema } from "./schema";
import { type Report, reportOn } from "./solvereports";
import { all, isSame, pathOf, said, type SolveDraft, type Where } from "./solverequest";
import { clipNames } from "./clips";
import { refill } from "./watch";

export interface ListHooks {
  change(label: string, edit: (ask: SolveDraft) => void, where: Where, settle?: number): void;
  remove(where: Where): void;
  choose(where: Where | null): void;
}

export interface Listed {
  ask: SolveDraft;
  chosen: Where | null;
  reports: ReadonlyMap<string, Report>;
  /** What was refused, by its place. */
  refused: ReadonlyMap<string, string>;
}

export function constraintList(context: Context, verb: VerbFacts, hooks: ListHooks) {
  const element = el("ul", { class: "constraints", attrs: { "aria-label": "Constraints" } });
  let drawn = "";
  return {
    element,
    set(listed: Listed): void {
      const { ask, chosen, reports, refused } = listed;
      // Only the distances change while candidates come in: whoever types a number meanwhile is not disturbed.
      const problems = [...reports].map(([where, { problem }]) => [where, problem?.text]);
      const { state } = context.store;
      const choices = [state.graph?.labels, clipNames(state, verb.subject)];
      const key = JSON.stringify([ask, chosen, problems, [...refused], choices]);
      if (key !== drawn) refill(element, ...all(ask).map((where) => row(context, verb, hooks, listed, where)));
      drawn = key;
      for (const [k, where] of all(ask).entries()) tell(element.children[k] as HTMLElement, where, reports);
    },
  };
}

function row(context: Context, verb: VerbFacts, hooks: ListHooks, listed: Listed, where: Where): HTMLElement {
  const { ask, chosen, reports, refused } = listed;
  const open = isSame(where, chosen);
  const name = said(ask, where);
  const header = button(name, () => hooks.choose(open ? null : where), { kind: "quiet", title: name });
  header.setAttribute("aria-expanded", String(open));
  header.classList.add("name");
  const problem = (refused.get(pathOf(where)) ?? reportOn(reports, where)?.problem?.text)?.replace(/^\w+\[\d+\][\w.]*: /, "");
  return el(
    "li",
    { data: { where: pathOf(where) } },
    el(
      "div",
      { class: "row" },
      header,
      el("span", { class: "error", title: "How far the motion is from it" }),
      button(`Remove ${name}`, () => hooks.remove(where), { icon: "close", iconOnly: true, kind: "quiet" }),
    ),
    problem ? el("p", { class: "problem", attrs: { role: "alert" } }, icon("warning"), problem) : null,
    open ? form(context, verb, hooks, ask, where) : null,
  );
}

/** Say how well a constraint is met. */
function tell(row: HTMLElement, where: Where, reports: ReadonlyMap<string, Report>): void {
  const report = reportOn(reports, where);
  const isExact = where.kind === "frames" || (where.kind === "body" && where.index === 0);
  row.dataset["met"] = String(report?.met ?? true);
  const text = report && !report.met ? report.text : isExact ? "exact" : (report?.text ?? "");
  row.querySelector(".error")!.textContent = reports.size === 0 ? "" : text;
}

/** Its numbers, as the request's schema has them. */
function form(context: Context, verb: VerbFacts, hooks: ListHooks, ask: SolveDraft, where: Where): HTMLElement {
  const root = verb.request as Schema;
  const own = entrySchema(resolved(root, root), where.kind, verb.name);
  const schema: Schema = { ...own, ...(root.$defs ? { $defs: root.$defs } : {}) };
  const edit = (label: string, change: (entry: Record<string, Plain>) => void, settle?: number) =>
    hooks.change(label, (next) => change(next[where.kind][where.index] as unknown as Record<string, Plain>), where, settle);
  const { store } = context;
  const entry = ask[where.kind][where.index]!;
  // Of an obstacle, the shape that it has; corners are dragged.
  const shapes = where.kind === "obstacles" ? ["centre", "radius_m", "low", "high"].filter((name) => !(name in entry)) : [];
  const made = requestForm(schema, { edit }, {
    skip: shapes,
    choices: {
      joint: () => store.state.clips[0]?.joints ?? [],
      clip: () => clipNames(store.state, verb.subject),
      label: () => store.state.graph?.labels ?? [],
    },
  });
  made.set(entry);
  for (const part of made.element.querySelectorAll("details")) part.open = true;
  made.element.classList.add("constraint-form");
  return made.element;
}
