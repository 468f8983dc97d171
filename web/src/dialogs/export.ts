/** Downloads. */

import type { Context } from "../types";

export function openExport(_context: Context, _motion?: string): void {}
