/** The verbs that have a panel, in the order of their tabs. */

import type { Panel } from "../types";

export const panels: readonly Panel[] = [];
