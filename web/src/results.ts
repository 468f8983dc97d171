/** The right column. */

import type { Context } from "./types";

export function mountResults(_column: HTMLElement, _context: Context): void {}
