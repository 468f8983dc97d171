/** Where the hips of a motion go: its end, its apex, where it faces. No page, no stage. */

import type { Place3 } from "./physicshandles";

/** Shorter ways than this have no direction of their own: ahead is then where the body faces, as solving has it. */
const ON_THE_SPOT_M = 0.15;

export interface Way {
  /** Of each frame. */
  hips: Place3[];
  /** Frame in which they are highest. */
  apex: number;
  /** Direction of travel on the floor, x and z. */
  ahead: [number, number];
  /** Facing in the last frame, the angle about +y from +z, radians. */
  facing: number;
}

/** Of rows of so many numbers: root x, y, z, then a quaternion x, y, z, w for each joint. */
export function hipsOf(frames: Float32Array, width: number, start = 0, stop = Infinity): Way {
  const count = Math.floor(frames.length / width);
  const first = Math.min(Math.max(start, 0), Math.max(count - 2, 0));
  const end = Math.max(Math.min(stop, count), first + 1);
  const hips = Array.from({ length: end - first }, (_, k): Place3 => {
    const at = (first + k) * width;
    return [frames[at]!, frames[at + 1]!, frames[at + 2]!];
  });
  const apex = hips.reduce((best, place, k) => (place[1] > hips[best]![1] ? k : best), 0);
  const [from, to] = [hips[0]!, hips.at(-1)!];
  const way = Math.hypot(to[0] - from[0], to[2] - from[2]);
  const faces = facingOf(frames, first * width);
  const ahead: [number, number] =
    way < ON_THE_SPOT_M ? [Math.sin(faces), Math.cos(faces)] : [(to[0] - from[0]) / way, (to[2] - from[2]) / way];
  return { hips, apex, ahead, facing: facingOf(frames, (end - 1) * width) };
}

/** Where the root's own +z points on the floor. */
function facingOf(frames: Float32Array, row: number): number {
  const [x, y, z, w] = [frames[row + 3]!, frames[row + 4]!, frames[row + 5]!, frames[row + 6]!];
  return Math.atan2(2 * (x * z + w * y), 1 - 2 * (x * x + y * y));
}

/** The same angle between -π and π. */
export const wrapped = (angle: number): number => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
