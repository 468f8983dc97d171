/** How well a motion meets each constraint: what the result says of its problems, and how near the search came. */

import type { Plain, Problem, Result } from "../messages";
import { missedOf } from "./problems";
import { pathOf, type Where, whereOf } from "./solverequest";

export interface Report {
  met: boolean;
  /** How far off it is, in few words. */
  text: string;
  problem: Problem | null;
}

/** An entry of a solve result's `errors`: of a constraint, before finishing makes up for it. */
interface SearchError {
  where: string;
  metres: number | null;
  radians: number | null;
}

export function reportsOf(result: Result | null, find: (place: string) => Where | null = whereOf): Map<string, Report> {
  const reports = new Map<string, Report>();
  for (const { where: place, metres, radians } of (result?.details["errors"] ?? []) as (SearchError & { [name: string]: Plain })[]) {
    const words = [
      ...(typeof metres === "number" ? [distance(metres)] : []),
      ...(typeof radians === "number" ? [`${((Math.abs(radians) * 180) / Math.PI).toFixed(1)}°`] : []),
    ];
    const where = find(place);
    if (where) reports.set(pathOf(where), { met: true, text: words.join(", "), problem: null });
  }
  for (const problem of missedOf(result?.problems ?? [])) {
    const where = find(problem.where);
    if (!where || reports.get(pathOf(where))?.met === false) continue;
    reports.set(pathOf(where), { met: false, text: far(problem), problem });
  }
  return reports;
}

/** How well one constraint is met; null where nothing is known. */
export const reportOn = (reports: ReadonlyMap<string, Report>, where: Where): Report | null =>
  reports.get(pathOf(where)) ?? null;

/** By how much it was missed. */
export function far({ asked, got, unit }: Problem): string {
  if (got === null) return "missed";
  if (unit === "m") return distance(Math.abs(got - (asked ?? 0)));
  return `${Math.round(10 * Math.abs(got - (asked ?? 0))) / 10} ${unit}`.replace(" °", "°");
}

const distance = (metres: number): string => (metres < 1 ? `${(100 * metres).toFixed(1)} cm` : `${metres.toFixed(2)} m`);
