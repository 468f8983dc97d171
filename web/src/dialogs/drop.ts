/** Files dropped anywhere on the window. */

import type { Context } from "../types";

export function mountDrop(_context: Context): void {}
