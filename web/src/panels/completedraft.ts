/** Requests as what the stage and list of goals show: goals at times in lists; all other goals stay as they are. */

import type { CompleteRequest, JointGoal, LabelGoal, Obstacle, PlaceGoal, PoseGoal, SolveRequest, ViewGoal } from "../messages";
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

type Holder = { goals?: AnyGoal[] };

export const goalsOf = (request: Holder): AnyGoal[] => request.goals ?? [];
/** The tracks of a request. */
export const tracksOf = (request: Holder): JointGoal[] => goalsOf(request).filter(isJoint).filter((goal) => !isAt(goal));
/** Where cameras are to see joints. */
export const viewsOf = (request: Holder): ViewGoal[] => goalsOf(request).filter(isView);

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
    ...(kind === "poses" || kind === "frames" ? { pose: source } : {}),
    ...(kind === "frames" ? { exact: true } : {}),
    ...(position === undefined ? {} : { place: position }),
    ...(stop_s === undefined ? {} : { end_s: stop_s }),
  } as unknown as AnyGoal;
}

const LISTS = ["body", "joints", "poses", "frames", "labels"] as const;

/** Of solve, exact poses are a list of their own. */
function solveKind(goal: AnyGoal): Kind | null {
  return isPose(goal) && goal.exact && kindOf(goal) ? "frames" : kindOf(goal);
}

function listsOf(goals: AnyGoal[], kind: (goal: AnyGoal) => Kind | null): Record<string, Entry[]> {
  const lists: Record<string, Entry[]> = { poses: [], body: [], joints: [], frames: [], labels: [] };
  for (const goal of structuredClone(goals)) lists[kind(goal) ?? ""]?.push(toEntry(goal));
  return lists;
}

/** The goals of a draft, and behind them those that it does not show. */
function goalsFrom(request: Holder, draft: SolveDraft, kind: (goal: AnyGoal) => Kind | null): AnyGoal[] {
  const others = goalsOf(request).filter((goal) => kind(goal) === null);
  return [...LISTS.flatMap((name) => draft[name].map((entry) => toGoal(name, entry as unknown as Entry))), ...others];
}

function whereOfGoal(goals: AnyGoal[], place: string, kindOf: (goal: AnyGoal) => Kind | null): Where | null {
  const index = Number(/^goals\[(\d+)\]/.exec(place)?.[1] ?? -1);
  const kind = goals[index] ? kindOf(goals[index]) : null;
  return kind && { kind, index: goals.slice(0, index).filter((goal) => kindOf(goal) === kind).length };
}

/** The goals that stand at a time, in lists. */
export function toDraft(request: CompleteRequest): SolveDraft {
  const lists = listsOf(goalsOf(request), kindOf);
  return drafted({ length_s: request.duration_s ?? LENGTH_S, ...lists } as unknown as SolveDraft);
}

/** Take a draft over: goals that it does not show stay as they were, behind the others. */
export function fromDraft(request: CompleteRequest, draft: SolveDraft): void {
  request.duration_s = draft.length_s;
  setGoals(request, goalsFrom(request, draft, kindOf));
}

/** The goals and obstacles of a request to solve, in lists. */
export function solveDraft(request: SolveRequest): SolveDraft {
  const { duration_s, min_piece_s, scene } = request;
  const obstacles = Array.isArray(scene?.obstacles) ? scene.obstacles : [];
  const piece = min_piece_s === undefined ? {} : { min_piece_s };
  return drafted({ length_s: duration_s, ...piece, ...listsOf(goalsOf(request), solveKind), obstacles } as unknown as SolveDraft);
}

/** Take such a draft over. */
export function fromSolveDraft(request: SolveRequest, draft: SolveDraft): void {
  request.duration_s = draft.length_s;
  if (draft.min_piece_s !== undefined) request.min_piece_s = draft.min_piece_s;
  setGoals(request, goalsFrom(request, draft, solveKind));
  const { obstacles: _, ...scene } = request.scene ?? {};
  const obstacles: Obstacle[] = draft.obstacles;
  if (obstacles.length > 0) request.scene = { ...scene, obstacles };
  else if (Object.keys(scene).length > 0) request.scene = scene;
  else delete request.scene;
}

/** Where the draft has what a place in the request names: "goals[3].place", "scene.obstacles[0]". */
export function whereInSolve(request: SolveRequest, place: string): Where | null {
  const obstacle = /^scene\.obstacles\[(\d+)\]/.exec(place);
  return obstacle ? { kind: "obstacles", index: Number(obstacle[1]) } : whereOfGoal(goalsOf(request), place, solveKind);
}

/** Give a request its goals; none of them is no list. */
export function setGoals(request: Holder, goals: AnyGoal[]): void {
  if (goals.length > 0) request.goals = goals;
  else delete request.goals;
}

/** Where the draft has the goal that a place in the request names: "goals[3].place". */
export function whereInDraft(request: CompleteRequest, place: string): Where | null {
  return whereOfGoal(goalsOf(request), place, kindOf);
}

const MODELS: Record<Kind, string> = {
  poses: "PoseGoal", frames: "PoseGoal", body: "PlaceGoal", joints: "JointGoal", labels: "LabelGoal", obstacles: "Obstacle",
};
const NAMES: Record<string, string> = { place: "position", end_s: "stop_s" };
const UNUSED = ["heading_deg", "height_m", "points", "ends", "standing", "duration_s", "at_m", "start_m", "end_m", "pose"];
/** What solve does not search for, by list. */
const UNSOLVED: Partial<Record<Kind, string[]>> = {
  poses: ["place", "facing_deg", "as_recorded", "start_s", "end_s", "exact", "tolerance_deg"],
  frames: ["place", "facing_deg", "as_recorded", "start_s", "end_s", "exact", "weight"],
  body: ["start_s", "end_s", "exact"],
  joints: ["start_s", "end_s", "exact", "track"],
  labels: ["at_s", "exact"],
  obstacles: ["corners", "ends", "thickness_m", "height_m", "base_m", "moves"],
};

/** The form of an entry of the draft, from the models of goals. */
export function entrySchema(root: Schema, kind: Kind, verb: string): Schema {
  const models = root.$defs ?? {};
  const model = models[MODELS[kind]]!;
  const { clip, frame } = models["PoseSource"]?.properties ?? {};
  const isSolve = verb === "solve";
  const unused = kind === "frames" ? UNUSED.filter((name) => name !== "duration_s") : UNUSED;
  const skipped = [...unused, ...(kind === "body" ? ["label"] : []), ...((isSolve && UNSOLVED[kind]) || [])];
  const own = Object.entries(model.properties ?? {}).filter(([name]) => !skipped.includes(name));
  const named = Object.fromEntries(own.map(([name, part]) => [NAMES[name] ?? name, part]));
  const source: Record<string, Schema> = kind === "poses" || kind === "frames" ? { clip: clip!, frame: frame! } : {};
  return { ...model, properties: { ...source, ...named } };
}

/** Goals are listed in order of time. */
export const inOrder = (draft: SolveDraft): void => {
  draft.body.sort((a, b) => a.at_s - b.at_s);
  draft.poses.sort((a, b) => a.at_s - b.at_s);
};

/** Whether there is something to complete. */
export const asksForGoals = (request: CompleteRequest): boolean =>
  Boolean(request.between) || goalsOf(request).some((goal) => !isLabel(goal));
