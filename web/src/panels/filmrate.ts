/** How many frames a second a film has, by when its frames come. No page, no film. */

/** What cameras and files usually have. */
const USUAL = [12, 15, 24000 / 1001, 24, 25, 30000 / 1001, 30, 48, 50, 60000 / 1001, 60, 90, 100, 120, 240];
/** Seconds by which times in a file may be off: they are kept in thousandths. */
const OFF_S = 0.001;

/** Between frames, at most: farther apart they are not neighbours. */
const SLOWEST_S = 0.25;

/** The rate of a film in which frames begin at these seconds; some may have been left out. Null where they do not tell. */
export function rateOf(seconds: readonly number[]): number | null {
  const at = [...new Set(seconds)].sort((a, b) => a - b);
  const steps = at.slice(1).map((time, k) => time - at[k]!).filter((step) => step > 1.5 * OFF_S);
  if (steps.length < 2) return null;
  // Frames that were left out make steps longer, never shorter: the shortest are of one frame, give or take.
  const least = Math.min(...steps);
  if (least > SLOWEST_S) return null;
  const single = steps.filter((step) => step < 1.5 * least);
  let rate = single.length / single.reduce((sum, step) => sum + step, 0);
  // Longer steps are of more frames: each that is counted surely makes the rate surer.
  let known = single.length / rate;
  const start = at[0]!;
  for (const time of at.slice(2)) {
    const frames = (time - start) * rate;
    const unsure = frames * (OFF_S / Math.max(known, OFF_S));
    if (unsure < 0.4 && Math.round(frames) > 0) {
      rate = Math.round(frames) / (time - start);
      known = Math.max(known, time - start);
    }
  }
  const near = (2 * OFF_S) / known;
  const usual = USUAL.filter((one) => Math.abs(one - rate) <= near * one);
  usual.sort((a, b) => Math.abs(a - rate) - Math.abs(b - rate));
  return usual[0] ?? Math.round(1000 * rate) / 1000;
}
