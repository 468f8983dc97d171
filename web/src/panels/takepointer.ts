/** A press of the pointer that is taken before the floor's tool gets it: who takes a joint, or draws against the sky, does
    not mean the floor behind it. */

import type { Stage } from "../types";

export interface Hold {
  /** Whether this press is taken. */
  down(event: PointerEvent): boolean;
  move(event: PointerEvent): void;
  /** It was let go, or taken away. */
  up(event: PointerEvent): void;
}

/** Offer every press on the stage to `hold`; what it takes is its own until it is let go, and the camera stands still. */
export function takePointer({ camera, element }: Stage, hold: Hold): void {
  let pointer: number | null = null;
  const on = (kind: "pointerdown" | "pointermove" | "pointerup" | "pointercancel", then: (event: PointerEvent) => void) =>
    element.addEventListener(kind, then, { capture: true });
  const own = (then: (event: PointerEvent) => void) => (event: PointerEvent) => {
    if (event.pointerId !== pointer) return;
    event.stopPropagation();
    then(event);
  };
  const end = own((event) => {
    pointer = null;
    hold.up(event);
  });
  on("pointerdown", (event) => {
    if (pointer !== null || event.button !== 0 || event.altKey || !hold.down(event)) return;
    event.stopPropagation();
    pointer = event.pointerId;
    camera.held = true;
    element.setPointerCapture(pointer);
  });
  on("pointermove", own((event) => hold.move(event)));
  on("pointerup", end);
  on("pointercancel", end);
}
