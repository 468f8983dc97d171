/** The strips under the scrubber, painted on one canvas: which clip each frame came from, and which foot stands. */

import { clipColour } from "../colours";
import type { Motion } from "../messages";

/** How high things are: with one motion, and with several beside each other. */
export interface Layout {
  source: number;
  /** Below each strip of clips. */
  gap: number;
  /** From one foot's strip to the next; 0 where there is no room for feet. */
  pitch: number;
}

/** Two motions get a strip each, and thinner ones for the feet of the first; more leave no room for those. */
export const layoutOf = (motions: number): Layout =>
  motions < 2 ? { source: 18, gap: 4, pitch: 8 } : { source: motions < 4 ? 16 : 11, gap: 3, pitch: motions === 2 ? 6 : 0 };
/** Strips that there is room for. */
export const MOST_STRIPS = 4;

export interface StripColours {
  text: string;
  quiet: string;
  empty: string;
  contact: string;
}

export function paintStrips(
  canvas: HTMLCanvasElement,
  /** The one that the timeline is of, and those that are compared with it. */
  motions: readonly Motion[],
  share: (frame: number) => number,
  library: readonly { name: string }[],
  colours: StripColours,
  contacts: boolean,
): void {
  const scale = window.devicePixelRatio;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d")!;
  pen.scale(scale, scale);
  pen.clearRect(0, 0, width, height);
  const [first] = motions;
  if (!first) return;
  const layout = layoutOf(motions.length);
  const x = (frame: number) => share(frame) * width;
  motions.forEach((motion, k) => {
    pen.save();
    pen.translate(0, k * (layout.source + layout.gap));
    // All in the seconds of the first.
    paintSources(pen, motion, library, (frame) => x((frame / motion.fps) * first.fps), colours, layout.source);
    pen.restore();
  });
  if (!contacts || layout.pitch === 0) return;
  pen.translate(0, motions.length * (layout.source + layout.gap));
  paintContacts(pen, first, x, width, colours, layout.pitch);
}

function paintSources(
  pen: CanvasRenderingContext2D,
  motion: Motion,
  library: readonly { name: string }[],
  x: (frame: number) => number,
  colours: StripColours,
  high: number,
): void {
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const run of motion.sources) {
    const [left, right] = [x(run.start), x(run.stop)];
    pen.fillStyle = clipColour(run.clip, library);
    pen.fillRect(left, 0, right - left, high);
    if (run.blend !== null) hatch(pen, left, right, clipColour(run.blend, library), high);
  }
  // Names where they fit, over the whole stretch of a clip, blends aside.
  for (const run of motion.sources) {
    const [left, right] = [x(run.start), x(run.stop)];
    if (run.blend !== null || right - left < 36) continue;
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, right - left - 4, high);
    pen.clip();
    pen.fillStyle = INK;
    pen.fillText(run.clip, left + 6, high / 2 + 0.5);
    pen.restore();
  }
  pen.fillStyle = colours.empty;
  for (const run of motion.sources.slice(1)) {
    if (x(run.stop) - x(run.start) > 5) pen.fillRect(Math.round(x(run.start)), 0, 1, high);
  }
}

function hatch(pen: CanvasRenderingContext2D, left: number, right: number, colour: string, high: number): void {
  pen.save();
  pen.beginPath();
  pen.rect(left, 0, right - left, high);
  pen.clip();
  pen.strokeStyle = colour;
  pen.lineWidth = 2.5;
  pen.beginPath();
  for (let at = left - high - (left % 6); at < right; at += 6) {
    pen.moveTo(at, high);
    pen.lineTo(at + high, 0);
  }
  pen.stroke();
  pen.restore();
}

function paintContacts(
  pen: CanvasRenderingContext2D,
  motion: Motion,
  x: (frame: number) => number,
  width: number,
  colours: StripColours,
  pitch: number,
): void {
  motion.feet.forEach((_, foot) => {
    const top = foot * pitch;
    const high = pitch - 2;
    pen.fillStyle = colours.empty;
    pen.fillRect(0, top, width, high);
    pen.fillStyle = colours.contact;
    for (const [start, stop] of motion.contacts[foot] ?? []) {
      const [left, right] = [x(start), x(stop)];
      if (right <= 0 || left >= width) continue; // out of sight
      pen.fillRect(left, top, Math.max(right - left, 1), high);
    }
  });
}

/** On every colour of the palette, dark ink reads best. */
const INK = "#14171c";
