/** The strips under the scrubber, painted on one canvas: which clip each frame came from, and which foot stands. */

import { clipColour } from "../colours";
import type { Motion } from "../messages";

export const SOURCE_PX = 18;
/** Between the strip of clips and those of the feet. */
export const GAP_PX = 4;
/** From one foot's strip to the next. */
export const CONTACT_PITCH_PX = 8;
const CONTACT_PX = 6;

export interface StripColours {
  text: string;
  quiet: string;
  empty: string;
  contact: string;
}

export function paintStrips(
  canvas: HTMLCanvasElement,
  motion: Motion | null,
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
  if (!motion) return;
  const x = (frame: number) => share(frame) * width;
  paintSources(pen, motion, library, x, colours);
  if (contacts) paintContacts(pen, motion, x, width, colours);
}

function paintSources(
  pen: CanvasRenderingContext2D,
  motion: Motion,
  library: readonly { name: string }[],
  x: (frame: number) => number,
  colours: StripColours,
): void {
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const run of motion.sources) {
    const [left, right] = [x(run.start), x(run.stop)];
    pen.fillStyle = clipColour(run.clip, library);
    pen.fillRect(left, 0, right - left, SOURCE_PX);
    if (run.blend !== null) hatch(pen, left, right, clipColour(run.blend, library));
  }
  // Names where they fit, over the whole stretch of a clip, blends aside.
  for (const run of motion.sources) {
    const [left, right] = [x(run.start), x(run.stop)];
    if (run.blend !== null || right - left < 36) continue;
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, right - left - 4, SOURCE_PX);
    pen.clip();
    pen.fillStyle = INK;
    pen.fillText(run.clip, left + 6, SOURCE_PX / 2 + 0.5);
    pen.restore();
  }
  pen.fillStyle = colours.empty;
  for (const run of motion.sources.slice(1)) {
    if (x(run.stop) - x(run.start) > 5) pen.fillRect(Math.round(x(run.start)), 0, 1, SOURCE_PX);
  }
}

function hatch(pen: CanvasRenderingContext2D, left: number, right: number, colour: string): void {
  pen.save();
  pen.beginPath();
  pen.rect(left, 0, right - left, SOURCE_PX);
  pen.clip();
  pen.strokeStyle = colour;
  pen.lineWidth = 2.5;
  pen.beginPath();
  for (let at = left - SOURCE_PX - (left % 6); at < right; at += 6) {
    pen.moveTo(at, SOURCE_PX);
    pen.lineTo(at + SOURCE_PX, 0);
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
): void {
  motion.feet.forEach((_, foot) => {
    const top = SOURCE_PX + GAP_PX + foot * CONTACT_PITCH_PX;
    pen.fillStyle = colours.empty;
    pen.fillRect(0, top, width, CONTACT_PX);
    pen.fillStyle = colours.contact;
    for (const [start, stop] of motion.contacts[foot] ?? []) {
      const [left, right] = [x(start), x(stop)];
      if (right <= 0 || left >= width) continue; // out of sight
      pen.fillRect(left, top, Math.max(right - left, 1), CONTACT_PX);
    }
  });
}

/** On every colour of the palette, dark ink reads best. */
const INK = "#14171c";
