/** A complete request as what solve's stage and list show: goals at times; drawn tracks stay behind them. */

import type { CompleteRequest, JointGoal } from "../messages";
import { drafted, type SolveDraft } from "./solverequest";

export const LENGTH_S = 3;

const isTimed = (goal: JointGoal): boolean => goal.at_s !== undefined && goal.at_s !== null;

/** Goals that stand at a time, with all lists; tracks come last in a request, so places in the lists are the same. */
export function toDraft(request: CompleteRequest): SolveDraft {
  const { body = [], poses = [], joints = [], labels = [] } = structuredClone(request);
  return drafted({
    length_s: request.length_s ?? LENGTH_S,
    body: body.filter((one) => one.position) as SolveDraft["body"],
    joints: joints.filter(isTimed) as SolveDraft["joints"],
    poses: poses.filter((one) => one.clip).map((one) => ({ ...one, frame: one.frame ?? 0 })) as SolveDraft["poses"],
    labels,
  });
}

/** The tracks of a request. */
export const tracksOf = (request: CompleteRequest): JointGoal[] => (request.joints ?? []).filter((goal) => !isTimed(goal));

/** Take a draft over: what it does not show stays as it was, lists that are empty are left out. */
export function fromDraft(request: CompleteRequest, draft: SolveDraft): void {
  const [tracks, files] = [tracksOf(request), (request.poses ?? []).filter((one) => !one.clip)];
  const turned = (request.body ?? []).filter((one) => !one.position);
  request.length_s = draft.length_s;
  const lists = {
    body: [...draft.body, ...turned],
    joints: [...draft.joints, ...tracks],
    poses: [...draft.poses, ...files],
    labels: draft.labels,
  };
  for (const kind of ["body", "joints", "poses", "labels"] as const) {
    if (lists[kind].length > 0) Object.assign(request, { [kind]: lists[kind] });
    else delete request[kind];
  }
}

/** Goals are listed in order of time. */
export const inOrder = (draft: SolveDraft): void => {
  draft.body.sort((a, b) => a.at_s - b.at_s);
  draft.poses.sort((a, b) => a.at_s - b.at_s);
};

/** Whether there is something to complete. */
export function asksForGoals(request: CompleteRequest): boolean {
  const { body, joints, poses, turns, angles, distances, offsets, views, contacts, between } = request;
  return [body, joints, poses, turns, angles, distances, offsets, views, contacts, between].some((list) => (list?.length ?? 0) > 0);
}
