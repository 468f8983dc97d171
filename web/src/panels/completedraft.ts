/** A complete request as what solve's stage and list show: goals at times; all other goals stay as they are. */

import type { CompleteRequest, JointGoal, LabelGoal, PlaceGoal, PoseGoal, ViewGoal } from "../messages";
import type { Schema } from "./schema";
import { drafted, type Kind, type SolveDraft, type Where } from "./solverequest";

export const LENGTH_S = 3;

export type AnyGoal = NonNullable<CompleteRequest["goals"]>[number];

const isAt = (goal: AnyGoal): boolean => typeof goal.at_s === "number";
export const isPose = (goal: AnyGoal): goal is PoseGoal => "pose" in goal;
const isView = (goal: AnyGoal): goal is ViewGoal => "camera" in goal;
const isLabel = (goal: AnyGoal): goal is LabelGoal => "label" in goal && !("place" in goal);
export const isPlace = (goal: AnyGoal): goal is PlaceGoal =>
  !isPose(goal) && ("place" in goal || "facing_deg" in goal || ("points" in goal && !("joint" in goal))) && !("foot" in goal);
const isJoint = (goal: AnyGoal): goal is JointGoal =>
  "joint" in goal && !["rotation", "bend_deg", "of", "camera"].some((name) => name in goal);

export const goalsOf = (request: CompleteRequest): AnyGoal[] => request.goals ?? [];
/** The tracks of a request. */
export const tracksOf = (request: CompleteRequest): JointGoal[] => goalsOf(request).filter(isJoint).filter((goal) => !isAt(goal));
/** Where cameras are to see joints. */
export const viewsOf = (request: CompleteRequest): ViewGoal[] => goalsOf(request).filter(isView);

/** The list of the draft that a goal is in; null where it is in none. */
function kindOf(goal: AnyGoal): Kind | null {
  if (isPose(goal)) return goal.pose.clip && isAt(goal) ? "poses" : null;
  if (isPlace(goal)) return goal.place && isAt(goal) ? "body" : null;
  if (isJoint(goal)) return isAt(goal) ? "joints" : null;
  return isLabel(goal) ? "labels" : null;
}

type Entry = Record<string, unknown>;

/** A goal as an entry of the draft's list. */
function toEntry(goal: AnyGoal): Entry {
  const { pose, place, end_s, ...rest } = goal as Entry & { pose?: Entry };
  const placed = place === undefined ? {} : { position: place };
  return { ...rest, ...(pose ? { frame: 0, ...pose } : {}), ...placed, ...(end_s === undefined ? {} : { stop_s: end_s }) };
}

/** The same back. */
function toGoal(kind: Kind, entry: Entry): AnyGoal {
  if (kind === "joints") return entry as unknown as AnyGoal;
  const { clip, frame, file, position, stop_s, ...rest } = entry;
  const source = { ...(clip ? { clip } : {}), ...(file ? { file } : {}), frame };
  return {
    ...rest,
    ...(kind === "poses" ? { pose: source } : {}),
    ...(position === undefined ? {} : { place: position }),
    ...(stop_s === undefined ? {} : { end_s: stop_s }),
  } as unknown as AnyGoal;
}

const LISTS = ["poses", "body", "joints", "labels"] as const;

/** The goals that stand at a time, in lists. */
export function toDraft(request: CompleteRequest): SolveDraft {
  const lists: Record<string, Entry[]> = { poses: [], body: [], joints: [], labels: [] };
  for (const goal of structuredClone(goalsOf(request))) lists[kindOf(goal) ?? ""]?.push(toEntry(goal));
  return drafted({ length_s: request.duration_s ?? LENGTH_S, ...lists } as unknown as SolveDraft);
}

/** Take a draft over: goals that it does not show stay as they were, behind the others. */
export function fromDraft(request: CompleteRequest, draft: SolveDraft): void {
  const others = goalsOf(request).filter((goal) => kindOf(goal) === null);
  const shown = LISTS.flatMap((kind) => draft[kind].map((entry) => toGoal(kind, entry as unknown as Entry)));
  request.duration_s = draft.length_s;
  setGoals(request, [...shown, ...others]);
}

/** Give a request its goals; none of them is no list. */
export function setGoals(request: CompleteRequest, goals: AnyGoal[]): void {
  if (goals.length > 0) request.goals = goals;
  else delete request.goals;
}

/** Where the draft has the goal that a place in the request names: "goals[3].place". */
export function whereInDraft(request: CompleteRequest, place: string): Where | null {
  const index = Number(/^goals\[(\d+)\]/.exec(place)?.[1] ?? -1);
  const goals = goalsOf(request);
  const kind = goals[index] ? kindOf(goals[index]) : null;
  return kind && { kind, index: goals.slice(0, index).filter((goal) => kindOf(goal) === kind).length };
}

const MODELS: Partial<Record<Kind, string>> = { poses: "PoseGoal", body: "PlaceGoal", joints: "JointGoal", labels: "LabelGoal" };
const NAMES: Record<string, string> = { place: "position", end_s: "stop_s" };
const UNUSED = ["heading_deg", "height_m", "points", "ends", "standing", "duration_s", "at_m", "start_m", "end_m", "pose"];

/** The form of an entry of the draft, from the models of goals. */
export function entrySchema(root: Schema, kind: Kind): Schema | null {
  const models = root.$defs ?? {};
  const model = models[MODELS[kind] ?? ""];
  if (!model || root.properties?.[kind]) return null;
  const { clip, frame } = models["PoseSource"]?.properties ?? {};
  const skipped = kind === "body" ? [...UNUSED, "label"] : UNUSED;
  const own = Object.entries(model.properties ?? {}).filter(([name]) => !skipped.includes(name));
  const named = Object.fromEntries(own.map(([name, part]) => [NAMES[name] ?? name, part]));
  return { ...model, properties: { ...(kind === "poses" ? { clip: clip!, frame: frame! } : {}), ...named } };
}

/** Goals are listed in order of time. */
export const inOrder = (draft: SolveDraft): void => {
  draft.body.sort((a, b) => a.at_s - b.at_s);
  draft.poses.sort((a, b) => a.at_s - b.at_s);
};

/** Whether there is something to complete. */
export const asksForGoals = (request: CompleteRequest): boolean =>
  Boolean(request.between) || goalsOf(request).some((goal) => !isLabel(goal));
