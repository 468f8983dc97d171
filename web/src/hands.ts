/** What is in the user's hand: hints speak of a right button only to those who have one. */

let latest: string | null = null;
const watchers = new Set<() => void>();

/** Whether fingers or a pen are what presses. */
export const usesTouch = (): boolean => (latest === null ? matchMedia("(pointer: coarse)").matches : latest !== "mouse");

/** How the camera is turned where pressing draws. */
export const turning = (): string => (usesTouch() ? "Two fingers turn the camera." : "The right button turns the camera.");

/** Calls `fn` whenever another kind of hand is used. */
export function onHand(fn: () => void): void {
  watchers.add(fn);
}

document.addEventListener(
  "pointerdown",
  ({ pointerType }) => {
    if (!pointerType || pointerType === latest) return;
    latest = pointerType;
    for (const watcher of watchers) watcher();
  },
  true,
);
