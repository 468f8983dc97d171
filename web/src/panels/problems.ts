/** Problems of a result, the worst first. */

import type { Problem, Severity } from "../messages";

const ORDER: readonly Severity[] = ["missed", "warning", "note"];

export const bySeverity = (problems: readonly Problem[]): Problem[] =>
  ORDER.flatMap((severity) => problems.filter((problem) => problem.severity === severity));

/** Those that the request asks for and the motion does not do. */
export const missedOf = (problems: readonly Problem[]): Problem[] => problems.filter(({ severity }) => severity === "missed");
