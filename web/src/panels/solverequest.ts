/** A solve request as plain values: its parts by place, in words, and in order of time. */

import type { Obstacle } from "../messages";

export const KINDS = ["body", "joints", "poses", "frames", "labels", "obstacles"] as const;
export type Kind = (typeof KINDS)[number];

/** A number or none for each of x, y and z. */
type Coordinates = [number | null, number | null, number | null];

interface Timed {
  at_s: number;
  weight?: number;
}

export interface PlaceEntry extends Timed {
  position: [number, number];
  facing_deg?: number | null;
}

export interface JointEntry extends Timed {
  joint: string;
  position?: Coordinates;
  velocity?: Coordinates;
}

export interface PoseEntry extends Timed {
  clip: string;
  frame: number;
}

/** A pose that every answer shows, and for how long its recording goes on. */
export interface FrameEntry extends PoseEntry {
  duration_s?: number;
}

export interface LabelEntry {
  start_s: number;
  stop_s: number;
  label: string;
  weight?: number;
}

/** The goals of a request in lists, as long as it is worked on. */
export interface SolveDraft {
  length_s: number;
  min_piece_s?: number;
  body: PlaceEntry[];
  joints: JointEntry[];
  poses: PoseEntry[];
  frames: FrameEntry[];
  labels: LabelEntry[];
  obstacles: Obstacle[];
}

/** A constraint, by its place in the request. */
export interface Where {
  kind: Kind;
  index: number;
}

/** A copy with all lists. */
export function drafted(request: Partial<SolveDraft> & { length_s: number }): SolveDraft {
  const lists = { body: [], joints: [], poses: [], frames: [], labels: [], obstacles: [] };
  return structuredClone({ ...lists, ...request });
}

/** Its place in the draft: "body[1]". */
export const pathOf = ({ kind, index }: Where): string => `${kind}[${index}]`;

/** The constraint that a sentence begins with, or a place names. */
export function whereOf(text: string): Where | null {
  const found = /^(body|joints|poses|frames|labels|obstacles)\[(\d+)\]/.exec(text);
  return found ? { kind: found[1] as Kind, index: Number(found[2]) } : null;
}

export const isSame = (a: Where | null, b: Where | null): boolean =>
  a !== null && b !== null && a.kind === b.kind && a.index === b.index;

/** All constraints, as they are listed. */
export function all(ask: SolveDraft): Where[] {
  return KINDS.flatMap((kind) => ask[kind].map((_, index) => ({ kind, index })));
}

/** Whether there is something to search for, besides a start. */
export function asksForSomething(ask: SolveDraft): boolean {
  return ask.body.length > 1 || KINDS.slice(1).some((kind) => ask[kind].length > 0);
}

/** Arrows and hard frames are asked for in order of time; the first arrow says where the motion begins. */
export function putInOrder(ask: SolveDraft): void {
  ask.body.sort((a, b) => a.at_s - b.at_s);
  ask.frames.sort((a, b) => a.at_s - b.at_s);
  const [first] = ask.body;
  if (first) first.facing_deg ??= 0;
}

/** When the next arrow is wanted: at the start, at the end, now, or in the widest gap. */
export function nextTime(ask: SolveDraft, now: number | null): number {
  const times = ask.body.map((arrow) => arrow.at_s).sort((a, b) => a - b);
  if (!times.includes(0)) return 0;
  if (!times.includes(ask.length_s)) return ask.length_s;
  if (now !== null && times.every((time) => Math.abs(time - now) > 0.25)) return tenth(now);
  const gaps = times.slice(1).map((time, k) => ({ size: time - times[k]!, middle: (time + times[k]!) / 2 }));
  return tenth(gaps.sort((a, b) => b.size - a.size)[0]?.middle ?? ask.length_s);
}

/** Keep all times within the motion; the last arrow stays at its end if it was there. */
export function setLength(ask: SolveDraft, length: number): void {
  const before = ask.length_s;
  const fit = (time: number) => (time === before ? length : Math.min(time, length));
  ask.length_s = length;
  for (const timed of [...ask.body, ...ask.joints, ...ask.poses, ...ask.frames]) timed.at_s = fit(timed.at_s);
  for (const frame of ask.frames) if (frame.duration_s) frame.duration_s = Math.min(frame.duration_s, length - frame.at_s);
  for (const label of ask.labels) [label.start_s, label.stop_s] = [fit(label.start_s), fit(label.stop_s)];
  if (ask.min_piece_s !== undefined) ask.min_piece_s = Math.min(ask.min_piece_s, length);
}

/** A constraint in few words. */
export function said(ask: SolveDraft, { kind, index }: Where): string {
  if (kind === "body") return `${index === 0 ? "Start" : `Arrow ${index + 1}`}, ${seconds(ask.body[index]!.at_s)}`;
  if (kind === "joints") return `${ask.joints[index]!.joint}, ${seconds(ask.joints[index]!.at_s)}`;
  if (kind === "poses") return `Pose of ${ask.poses[index]!.clip}, ${seconds(ask.poses[index]!.at_s)}`;
  if (kind === "frames") return `Frame of ${ask.frames[index]!.clip}, ${seconds(ask.frames[index]!.at_s)}`;
  if (kind === "labels")
    return `${ask.labels[index]!.label}, ${ask.labels[index]!.start_s}–${seconds(ask.labels[index]!.stop_s)}`;
  const { centre, low, ends } = ask.obstacles[index]!;
  return centre ? "Round obstacle" : low ? "Box" : ends ? "Wall" : "Polygon";
}

const seconds = (time: number): string => `${Math.round(100 * time) / 100} s`;

export const tenth = (value: number): number => Math.round(10 * value) / 10;
/** To the centimetre: more would be noise. */
export const cm = (value: number): number => Math.round(100 * value) / 100;

/** An angle in degrees, in (-180, 180]. */
export const degrees = (radians: number): number =>
  tenth((Math.atan2(Math.sin(radians), Math.cos(radians)) * 180) / Math.PI);
export const radians = (angle: number): number => (angle * Math.PI) / 180;
