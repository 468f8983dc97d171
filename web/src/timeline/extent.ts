/** The part of a motion that the timeline shows. */

export interface Extent {
  /** The frame at the left end. */
  low: number;
  /** Frames from there to the right end. */
  span: number;
}

const LEAST_FRAMES = 10;

/** `factor` times as long, with the frame `at` where it is. */
export function zoomed(part: Extent, whole: Extent, factor: number, at: number): Extent {
  const span = Math.min(Math.max(part.span * factor, LEAST_FRAMES), whole.span);
  return within({ low: at - ((at - part.low) * span) / part.span, span }, whole);
}

/** Moved by so many frames. */
export const moved = (part: Extent, whole: Extent, by: number): Extent => within({ ...part, low: part.low + by }, whole);

/** The part that has a frame in it: the same, or the next page. */
export function having(part: Extent, whole: Extent, frame: number): Extent {
  const inside = frame >= part.low && frame <= part.low + part.span;
  return inside ? part : within({ ...part, low: frame }, whole);
}

function within({ low, span }: Extent, whole: Extent): Extent {
  return { low: Math.min(Math.max(low, whole.low), whole.low + Math.max(whole.span - span, 0)), span };
}
