/** Poses of a body put on a character as they come. The table and the method are those of choreograph.motion.live_map:
    rotations by joints, places by one scale, legs solved for the ankles, so that standing feet stand. */

import { Quaternion, Vector3 } from "three";
import type { LegFacts, LiveFacts } from "../messages";

export class Wearing {
  /** Numbers in a row of the character. */
  readonly width: number;
  private readonly from: Pose;
  private readonly to: Pose;
  private readonly aligns: Quaternion[];
  readonly facts: LiveFacts;

  constructor(facts: LiveFacts) {
    this.facts = facts;
    this.from = new Pose(facts.parents, facts.offsets);
    this.to = new Pose(facts.to_parents, facts.to_offsets);
    this.aligns = facts.align.map((turn) => new Quaternion(...turn));
    this.width = 3 + 4 * facts.to_parents.length;
  }

  /** The character's rows for rows of the body, one after another. */
  rows(data: ArrayLike<number>): Float32Array {
    const width = 3 + 4 * this.facts.parents.length;
    const frames = Math.floor(data.length / width);
    const out = new Float32Array(frames * this.width);
    for (let frame = 0; frame < frames; frame++) this.row(data, frame * width, out, frame * this.width);
    return out;
  }

  private row(data: ArrayLike<number>, at: number, out: Float32Array, to: number): void {
    const { facts, from, aligns } = this;
    const own = this.to;
    from.read(data, at);
    own.turns.forEach((turn, joint) => {
      const low = facts.low[joint]!;
      if (low >= 0) {
        turn.copy(from.turns[low]!);
        if (facts.share[joint]! > 0) turn.slerp(from.turns[facts.high[joint]!]!, facts.share[joint]!);
        turn.multiply(aligns[joint]!);
      } else if (own.parents[joint]! >= 0) turn.copy(own.turns[own.parents[joint]!]!);
      else turn.identity();
    });
    own.place(ORIGIN);
    const root = this.carried(MIDDLE.addVectors(from.places[facts.hips[0]]!, from.places[facts.hips[1]]!).divideScalar(2));
    const [left, right] = facts.legs;
    root.addScaledVector(own.places[left.joints[0]]!, -0.5).addScaledVector(own.places[right.joints[0]]!, -0.5);
    for (const place of own.places) place.add(root);
    const legs = facts.legs.map((leg) => this.bend(leg));
    own.write(out, to, root);
    facts.legs.forEach(({ joints }, k) => writeLeg(own, out, to, joints, legs[k]!));
  }

  private carried(place: Vector3): Vector3 {
    const [x, y, z] = this.facts.scale;
    return place.set(x * place.x, y * place.y + this.facts.lift_m, z * place.z);
  }

  /** Rotations of thigh and shin, in the world, that bring the ankle to where the body's is. */
  private bend({ ankle, joints, hinge, sole, aside_m }: LegFacts): [Quaternion, Quaternion] {
    const { from, to, facts } = this;
    const [hip, knee, end] = joints.map((joint) => to.places[joint]!) as [Vector3, Vector3, Vector3];
    const foot = from.turns[ankle]!.clone().multiply(new Quaternion(...sole));
    const heading = 2 * Math.atan2(foot.y, foot.w);
    const target = this.carried(from.places[ankle]!.clone());
    target.x += aside_m * Math.cos(heading);
    target.z -= aside_m * Math.sin(heading);
    const thigh = knee.clone().sub(hip);
    const shin = end.clone().sub(knee);
    const away = target.sub(hip);
    const usual = new Vector3(...hinge).applyQuaternion(to.turns[joints[0]]!);
    const axis = thigh.clone().cross(shin).divideScalar(Math.max(thigh.length() * shin.length(), 1e-12));
    axis.multiplyScalar(axis.dot(usual) < 0 ? -1 : 1).addScaledVector(usual, facts.hinge_share).normalize();
    // |thigh + turned shin|² = a² + b² + 2 (fixed + even cos d + odd sin d) for a turn by d about the axis.
    const fixed = axis.dot(thigh) * axis.dot(shin);
    const even = thigh.dot(shin) - fixed;
    const odd = thigh.dot(axis.clone().cross(shin));
    const size = Math.max(Math.hypot(even, odd), 1e-12);
    const squares = thigh.lengthSq() + shin.lengthSq() + 2 * fixed;
    const straight = Math.atan2(odd, even);
    const longest = Math.sqrt(Math.max(squares + 2 * size, 0));
    const reach = softened(away.length(), end.distanceTo(hip), longest, facts.soft_share);
    let flexion = Math.acos(Math.min(Math.max((reach * reach - squares) / (2 * size), -1), 1));
    const wrong = Math.max(straight, 0);
    flexion -= 2 * wrong * Math.min(Math.max(1 - (flexion - wrong) / facts.undo_rad, 0), 1);
    const bend = new Quaternion().setFromAxisAngle(axis, straight + flexion);
    const now = thigh.add(shin.applyQuaternion(bend)).normalize();
    const swing = away.length() > 1e-9 ? new Quaternion().setFromUnitVectors(now, away.normalize()) : new Quaternion();
    return [swing, bend.premultiply(swing)];
  }
}

/** Joints of a body, in the world. */
class Pose {
  readonly turns: Quaternion[];
  readonly places: Vector3[];
  readonly parents: readonly number[];
  private readonly offsets: Vector3[];

  constructor(parents: readonly number[], offsets: readonly [number, number, number][]) {
    this.parents = parents;
    this.turns = parents.map(() => new Quaternion());
    this.places = parents.map(() => new Vector3());
    this.offsets = offsets.map((offset) => new Vector3(...offset));
  }

  /** Take a row of local rotations. */
  read(data: ArrayLike<number>, at: number): void {
    this.turns.forEach((turn, joint) => {
      const from = at + 3 + 4 * joint;
      turn.set(data[from]!, data[from + 1]!, data[from + 2]!, data[from + 3]!);
      if (this.parents[joint]! >= 0) turn.premultiply(this.turns[this.parents[joint]!]!);
    });
    this.place(ROOT.set(data[at]!, data[at + 1]!, data[at + 2]!));
  }

  /** Put joints where their rotations lead, from the root on. */
  place(root: Vector3): void {
    this.places.forEach((place, joint) => {
      const parent = this.parents[joint]!;
      if (parent < 0) place.copy(root);
      else place.copy(this.offsets[joint]!).applyQuaternion(this.turns[parent]!).add(this.places[parent]!);
    });
  }

  /** Write a row of local rotations. */
  write(out: Float32Array, at: number, root: Vector3): void {
    root.toArray(out, at);
    this.turns.forEach((turn, joint) => {
      const parent = this.parents[joint]!;
      local(parent < 0 ? null : this.turns[parent]!, turn).toArray(out, at + 3 + 4 * joint);
    });
  }
}

/** Local rotations of a solved leg, over those that are in the row. */
function writeLeg(own: Pose, out: Float32Array, at: number, joints: [number, number, number], turns: [Quaternion, Quaternion]): void {
  const [swing, shin] = turns;
  const [hip, knee, ankle] = joints;
  const above = (joint: number, turn: Quaternion | null): Quaternion | null => {
    const parent = own.parents[joint]!;
    if (parent < 0) return null;
    return turn ? turn.clone().multiply(own.turns[parent]!) : own.turns[parent]!;
  };
  local(above(hip, null), swing.clone().multiply(own.turns[hip]!)).toArray(out, at + 3 + 4 * hip);
  local(above(knee, swing), shin.clone().multiply(own.turns[knee]!)).toArray(out, at + 3 + 4 * knee);
  local(above(ankle, shin), own.turns[ankle]!).toArray(out, at + 3 + 4 * ankle);
}

const local = (above: Quaternion | null, turn: Quaternion): Quaternion => (above ? LOCAL.copy(above).invert().multiply(turn) : LOCAL.copy(turn));

/** How far an ankle may be from its hip: held back as the leg grows straight. */
function softened(wanted: number, recorded: number, longest: number, share: number): number {
  const start = Math.min(Math.max(share * longest, recorded), longest);
  if (wanted <= start) return wanted;
  const room = Math.max(longest - start, 1e-9);
  return start - room * Math.expm1(-(wanted - start) / room);
}

const ORIGIN = new Vector3();
const ROOT = new Vector3();
const MIDDLE = new Vector3();
const LOCAL = new Quaternion();
