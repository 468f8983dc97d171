/** A motion's frames as one array, read without allocating: rows of [x, y, z, then x, y, z, w for each joint]. */

import { Matrix4, Quaternion, Vector3, type Bone } from "three";
import type { Motion } from "../messages";
import type { Place } from "../types";

export class Track {
  readonly width: number;

  constructor(
    readonly motion: Motion,
    public data: Float32Array,
    /** Rest offsets from the parent, (J, 3), as the figure has them. */
    readonly offsets: Float32Array,
  ) {
    this.width = 3 + 4 * motion.joints.length;
  }

  /** Frames that are there; fewer than the motion's while it arrives. */
  get available(): number {
    return Math.min(this.motion.frames, Math.floor(this.data.length / this.width));
  }

  get seconds(): number {
    return Math.max(this.motion.frames - 1, 0) / this.motion.fps;
  }

  /** Put the bones where they are at a frame, between frames by slerp. */
  pose(bones: readonly Bone[], frame: number): void {
    const { data, width } = this;
    const last = this.available - 1;
    if (last < 0) return;
    const at = Math.min(Math.max(frame, 0), last);
    const k = Math.min(Math.floor(at), Math.max(last - 1, 0));
    const share = at - k;
    const a = k * width;
    const b = Math.min(k + 1, last) * width;
    bones[0]!.position.set(
      data[a]! + share * (data[b]! - data[a]!),
      data[a + 1]! + share * (data[b + 1]! - data[a + 1]!),
      data[a + 2]! + share * (data[b + 2]! - data[a + 2]!),
    );
    for (let joint = 0; joint < bones.length; joint++) {
      const offset = 3 + 4 * joint;
      Quaternion.slerpFlat(TURN, 0, data as unknown as number[], a + offset, data as unknown as number[], b + offset, share);
      bones[joint]!.quaternion.set(TURN[0]!, TURN[1]!, TURN[2]!, TURN[3]!);
    }
  }

  root(frame: number, out: Vector3): Vector3 {
    const row = Math.min(Math.max(Math.round(frame), 0), Math.max(this.available - 1, 0)) * this.width;
    return out.set(this.data[row] ?? 0, this.data[row + 1] ?? 0, this.data[row + 2] ?? 0);
  }

  /** Angle about +y from +z that the root faces; figures face +z at rest. */
  heading(frame: number): number {
    const row = Math.min(Math.max(Math.round(frame), 0), Math.max(this.available - 1, 0)) * this.width;
    ROTATION.fromArray(this.data, row + 3);
    const facing = POINT.set(0, 0, 1).applyQuaternion(ROTATION);
    return Math.atan2(facing.x, facing.z);
  }

  /** World place of a joint at a whole frame, by going down from the root. */
  joint(joint: number, frame: number): Place {
    const row = Math.min(Math.max(Math.round(frame), 0), Math.max(this.available - 1, 0)) * this.width;
    const chain: number[] = [];
    for (let at = joint; at >= 0; at = this.motion.parents[at]!) chain.push(at);
    const world = new Matrix4();
    const local = new Matrix4();
    for (const at of chain.reverse()) {
      if (at === chain[0]) POINT.fromArray(this.data, row);
      else POINT.fromArray(this.offsets, 3 * at);
      local.compose(POINT, ROTATION.fromArray(this.data, row + 3 + 4 * at), ONE);
      world.multiply(local);
    }
    const { x, y, z } = POINT.setFromMatrixPosition(world);
    return { x, y, z };
  }
}

/** Rows, and more behind them. */
export function joined(rows: Float32Array, more: Float32Array): Float32Array {
  const out = new Float32Array(rows.length + more.length);
  out.set(rows);
  out.set(more, rows.length);
  return out;
}

/** A track at the rate and length of other facts about it: places on a line, turns by slerp. */
export function resampled(track: Track, motion: Motion): Track {
  const { data, width } = track;
  const out = new Float32Array(motion.frames * width);
  const last = track.available - 1;
  for (let k = 0; k < motion.frames; k++) {
    const at = Math.min((k * track.motion.fps) / motion.fps, last);
    const before = Math.min(Math.floor(at), Math.max(last - 1, 0));
    const share = at - before;
    const [a, b, to] = [before * width, Math.min(before + 1, last) * width, k * width];
    for (let c = 0; c < 3; c++) out[to + c] = data[a + c]! + share * (data[b + c]! - data[a + c]!);
    for (let c = 3; c < width; c += 4) {
      Quaternion.slerpFlat(TURN, 0, data as unknown as number[], a + c, data as unknown as number[], b + c, share);
      out.set(TURN, to + c);
    }
  }
  return new Track(motion, out, track.offsets);
}

const TURN = [0, 0, 0, 1];
const POINT = new Vector3();
const ROTATION = new Quaternion();
const ONE = new Vector3(1, 1, 1);
