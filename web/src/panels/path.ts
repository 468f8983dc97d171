/** Lines on the floor: lengths along them, handles to bend them by, and what moves with them. No page, no stage. */

export type Point = [number, number];

/** Metres between the points of a stroke; finer than a hand draws. */
const SPACING = 0.05;
/** Metres that a stroke may stray from the line through its handles. */
export const HANDLE_TOLERANCE = 0.2;
/** Metres of a line to each side that go along when it is pulled, at least. */
const LEAST_REACH = 1.5;

const distance = (a: Point, b: Point): number => Math.hypot(a[0] - b[0], a[1] - b[1]);
const mixed = (a: Point, b: Point, t: number): Point => [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];

/** Metres along the line at each of its points. */
export function arcLengths(points: readonly Point[]): number[] {
  const lengths = [0];
  for (let i = 1; i < points.length; i++) lengths.push(lengths[i - 1]! + distance(points[i - 1]!, points[i]!));
  return lengths.slice(0, points.length);
}

export function length(points: readonly Point[]): number {
  return arcLengths(points).at(-1) ?? 0;
}

/** The point so many metres along, and the direction of travel there (a yaw: 0 looks along +z, π/2 along +x). */
export function at(points: readonly Point[], s: number): { point: Point; heading: number } {
  const lengths = arcLengths(points);
  let i = lengths.findIndex((l) => l >= s);
  if (i < 0) i = points.length - 1;
  i = Math.max(1, i);
  const [a, b] = [points[i - 1]!, points[i] ?? points[i - 1]!];
  const span = (lengths[i] ?? 0) - lengths[i - 1]!;
  const t = span > 0 ? Math.min(1, Math.max(0, (s - lengths[i - 1]!) / span)) : 0;
  return { point: mixed(a, b, t), heading: Math.atan2(b[0] - a[0], b[1] - a[1]) };
}

/** The place of the line nearest to a point: metres along, metres away, and the index of the line's nearest point. */
export function nearest(points: readonly Point[], p: Point): { s: number; away: number; index: number } {
  const lengths = arcLengths(points);
  let best = { s: 0, away: Infinity, index: 0 };
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1]!, points[i]!];
    const span = lengths[i]! - lengths[i - 1]!;
    const dot = (p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1]);
    const t = span > 0 ? Math.min(1, Math.max(0, dot / (span * span))) : 0;
    const away = distance(p, mixed(a, b, t));
    if (away < best.away) best = { s: lengths[i - 1]! + t * span, away, index: t < 0.5 ? i - 1 : i };
  }
  return best;
}

/** The part of the line from `start` to `stop` metres along it. */
export function part(points: readonly Point[], start: number, stop: number): Point[] {
  const lengths = arcLengths(points);
  const inside = points.filter((_, i) => lengths[i]! > start && lengths[i]! < stop);
  return [at(points, start).point, ...inside, at(points, stop).point];
}

/** The line through points evenly spaced along it; both ends stay. */
export function even(points: readonly Point[], spacing = SPACING): Point[] {
  const whole = length(points);
  const pieces = Math.max(1, Math.ceil(whole / spacing - 1e-6));
  if (whole === 0) return points.slice(0, 1);
  const lengths = arcLengths(points);
  const out: Point[] = [];
  let i = 1;
  for (let k = 0; k <= pieces; k++) {
    const s = (k / pieces) * whole;
    while (i < points.length - 1 && lengths[i]! < s) i++;
    const span = lengths[i]! - lengths[i - 1]!;
    out.push(mixed(points[i - 1]!, points[i]!, span > 0 ? Math.min(1, (s - lengths[i - 1]!) / span) : 0));
  }
  return out;
}

/** Indices of points that a line can be bent by: both ends and where it turns (Ramer 1972, Douglas & Peucker 1973). */
export function handles(points: readonly Point[], tolerance = HANDLE_TOLERANCE): number[] {
  if (points.length < 2) return points.map((_, i) => i);
  const keep = new Set([0, points.length - 1]);
  const open: [number, number][] = [[0, points.length - 1]];
  while (open.length > 0) {
    const [first, last] = open.pop()!;
    const chord: Point[] = [points[first]!, points[last]!];
    let [far, worst] = [-1, tolerance];
    for (let i = first + 1; i < last; i++) {
      const away = nearest(chord, points[i]!).away;
      if (away > worst) [far, worst] = [i, away];
    }
    if (far >= 0) {
      keep.add(far);
      open.push([first, far], [far, last]);
    }
  }
  return [...keep].sort((a, b) => a - b);
}

/** The line after the handle `marks[which]` was moved: it bends as far as the handles beside it, with its details. */
export function bent(points: readonly Point[], marks: readonly number[], which: number, to: Point): Point[] {
  const lengths = arcLengths(points);
  const centre = marks[which]!;
  const [before, after] = [marks[which - 1] ?? centre, marks[which + 1] ?? centre];
  const move: Point = [to[0] - points[centre]![0], to[1] - points[centre]![1]];
  return points.map((p, i): Point => {
    if (i < before || i > after) return p;
    const edge = i <= centre ? before : after;
    const span = lengths[centre]! - lengths[edge]!;
    const t = i === centre ? 1 : span === 0 ? 0 : (lengths[i]! - lengths[edge]!) / span;
    const weight = t * t * (3 - 2 * t);
    return [p[0] + weight * move[0], p[1] + weight * move[1]];
  });
}

/** The line after its point `index` was pulled to a place: the farther, the more of the line goes along, so that whoever
    walks it can take the curve. Ends stay, unless they are near. */
export function pulled(points: readonly Point[], index: number, to: Point): Point[] {
  const lengths = arcLengths(points);
  const centre = points[index]!;
  const move: Point = [to[0] - centre[0], to[1] - centre[1]];
  const reach = Math.max(LEAST_REACH, 0.8 + 2.2 * Math.hypot(...move));
  const side = (end: number): number => {
    const room = Math.abs(end - lengths[index]!);
    return room < 0.5 * reach ? reach : Math.min(room, reach);
  };
  const [before, after] = [side(0), side(lengths.at(-1)!)];
  return points.map((p, i): Point => {
    const along = lengths[i]! - lengths[index]!;
    const t = Math.max(0, 1 - Math.abs(along) / (along < 0 ? before : after));
    const weight = t * t * (3 - 2 * t);
    return [p[0] + weight * move[0], p[1] + weight * move[1]];
  });
}

/** The line without the handle `marks[which]`: a curve from the handle before to the one after; an end is cut off. */
export function without(points: readonly Point[], marks: readonly number[], which: number): Point[] {
  if (marks.length <= 2) return [...points];
  if (which === 0) return points.slice(marks[1]);
  if (which === marks.length - 1) return points.slice(0, marks[which - 1]! + 1);
  const [from, to] = [marks[which - 1]!, marks[which + 1]!];
  const [a, b] = [points[from]!, points[to]!];
  const reach = distance(a, b);
  const leave = direction(points, Math.max(0, from - 1), Math.max(from, 1));
  const enter = direction(points, to, to + 1 < points.length ? to + 1 : to);
  const count = to - from;
  const curve = Array.from({ length: count + 1 }, (_, k): Point => {
    const t = k / count;
    const [h00, h10] = [2 * t ** 3 - 3 * t ** 2 + 1, t ** 3 - 2 * t ** 2 + t];
    const [h01, h11] = [3 * t ** 2 - 2 * t ** 3, t ** 3 - t ** 2];
    const along = (d: 0 | 1): number => h00 * a[d] + h10 * reach * leave[d] + h01 * b[d] + h11 * reach * enter[d];
    return [along(0), along(1)];
  });
  return [...points.slice(0, from), ...curve, ...points.slice(to + 1)];
}

function direction(points: readonly Point[], from: number, to: number): Point {
  const [i, j] = from === to ? [from - 1, to] : [from, to];
  const span = distance(points[i]!, points[j]!) || 1;
  return [(points[j]![0] - points[i]![0]) / span, (points[j]![1] - points[i]![1]) / span];
}

/** Where metres along one line are on another with as many points: at the same point, as far between the same two. */
export function carried(s: number, old: readonly Point[], now: readonly Point[]): number {
  const [from, to] = [arcLengths(old), arcLengths(now)];
  if (old.length !== now.length) return (s / (from.at(-1) || 1)) * (to.at(-1) ?? 0);
  let i = from.findIndex((l) => l >= s);
  if (i < 0) return to.at(-1) ?? 0;
  i = Math.max(1, i);
  const span = from[i]! - from[i - 1]!;
  return to[i - 1]! + (span > 0 ? (s - from[i - 1]!) / span : 0) * (to[i]! - to[i - 1]!);
}

/** The line shifted so that it begins at `start`. */
export function moved(points: readonly Point[], start: Point): Point[] {
  const [dx, dz] = [start[0] - points[0]![0], start[1] - points[0]![1]];
  return points.map(([x, z]) => [x + dx, z + dz]);
}

/** The line turned about its start by a yaw: positive from +z towards +x. */
export function turned(points: readonly Point[], yaw: number): Point[] {
  const [cos, sin] = [Math.cos(yaw), Math.sin(yaw)];
  const [x0, z0] = points[0]!;
  return points.map(([x, z]) => [
    x0 + (x - x0) * cos + (z - z0) * sin,
    z0 - (x - x0) * sin + (z - z0) * cos,
  ]);
}
