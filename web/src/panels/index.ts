/** The verbs that have a panel, in the order of their tabs. */

import type { Panel } from "../types";
import { follow } from "./follow";
import { graph } from "./graph";
import { library } from "./library";
import { perform } from "./perform";
import { solve } from "./solve";

export const panels: readonly Panel[] = [library, graph, follow, solve, perform];
