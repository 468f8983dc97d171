/** The panels: those of the project itself, and one for each verb that there is. */

import type { VerbFacts } from "../messages";
import type { Panel } from "../types";
import { graph } from "./graph";
import { library } from "./library";
import { plainPanel } from "./verb";

/** Panel files of verbs that draw on the stage, by the verb's name; all others get a plain one. */
const own = import.meta.glob<{ panel(verb: VerbFacts): Panel }>("../verbs/*.ts", { eager: true });

export function panelsOf(verbs: readonly VerbFacts[]): Panel[] {
  return [library, graph, ...verbs.map((verb) => own[`../verbs/${verb.name}.ts`]?.panel(verb) ?? plainPanel(verb))];
}
