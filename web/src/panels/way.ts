/** The way of a motion over the floor: its root without the sway of its steps. No page, no stage. */

type Point = [number, number];

/** Width of the low-pass that takes the sway out, seconds: as bending has it. */
const SMOOTH_S = 0.25;

/** The places under a Gaussian of so many frames; beyond its ends the line is reflected in them, so it goes on. */
function lowPass(places: readonly Point[], sigma: number): Point[] {
  const last = places.length - 1;
  const width = Math.min(Math.round(4 * sigma), last);
  if (width < 1) return [...places];
  const weights = Array.from({ length: 2 * width + 1 }, (_, k) => Math.exp(-0.5 * ((k - width) / sigma) ** 2));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const at = (k: number, axis: 0 | 1): number => {
    if (k < 0) return 2 * places[0]![axis] - places[-k]![axis];
    return k > last ? 2 * places[last]![axis] - places[2 * last - k]![axis] : places[k]![axis];
  };
  return places.map((_, frame): Point => {
    const sum: Point = [0, 0];
    weights.forEach((weight, k) => {
      for (const axis of [0, 1] as const) sum[axis] += weight * at(frame + k - width, axis);
    });
    return [sum[0] / whole, sum[1] / whole];
  });
}

/** The way of a root that is at these places, frame by frame. */
export const wayOf = (places: readonly Point[], fps: number): Point[] => lowPass(places, SMOOTH_S * fps);

/** Where the root is in each frame, of rows of so many numbers that begin with x, y and z. */
export function rootsOf(frames: Float32Array, width: number): Point[] {
  return Array.from({ length: Math.floor(frames.length / width) }, (_, k): Point => [frames[k * width]!, frames[k * width + 2]!]);
}

/** Indices of points about so many metres apart, by what they are along; both ends are among them. */
export function spaced(along: readonly number[], metres: number, most: number): number[] {
  const whole = along.at(-1) ?? 0;
  const pieces = Math.min(Math.max(Math.round(whole / metres), 1), most);
  const marks = Array.from({ length: pieces + 1 }, (_, k) => along.findIndex((at) => at >= (k / pieces) * whole - 1e-9));
  return [...new Set(marks)];
}
