/** Colours with a meaning; those of the interface itself are tokens in style.css. */

/** What the program did: travelled path, selection, progress. */
export const TEAL = "#2bb3a3";
/** What the user drew or placed. */
export const AMBER = "#ffb02e";
/** Errors, and what could not be met. */
export const RED = "#e5534b";

/** The palette of pictures and plots: twelve hues of alternating lightness, apart for colour-blind eyes too. */
export const CLIP_COLOURS = [
  "#4e9fe0", "#e69f3c", "#4fb286", "#d9739f", "#9a86d8", "#c8b53f",
  "#56c2d6", "#d8664f", "#8fae4a", "#b0b7c3", "#a9744f", "#6f7fd0",
] as const;

/** The result or clip that a motion belongs to: "result:ID" of "result:ID/1". */
export const ownerOf = (motion: string): string => motion.split("/")[0]!;

/** Colour of the n-th result on the stage: of its path, its figure's tint, its card. */
export const shownColour = (number: number): string =>
  number === 0 ? TEAL : CLIP_COLOURS[(number - 1) % CLIP_COLOURS.length]!;

/** Same clip, same colour everywhere: by its place in the library, or by its name for clips that left it. */
export function clipColour(name: string, library: readonly { name: string }[]): string {
  const index = library.findIndex((clip) => clip.name === name);
  return CLIP_COLOURS[(index >= 0 ? index : hash(name)) % CLIP_COLOURS.length]!;
}

function hash(text: string): number {
  let value = 7;
  for (let k = 0; k < text.length; k++) value = (value * 31 + text.charCodeAt(k)) >>> 0;
  return value;
}
