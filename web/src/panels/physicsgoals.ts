/** Goals of physics as a list of forms, for what is not dragged on the stage: hands that carry, places in the air. */

import { button, el, section } from "../dom";
import type { PhysicsRequest, Plain, VerbFacts } from "../messages";
import { type Form, requestForm } from "./form";
import type { Schema } from "./schema";
import { refill } from "./watch";

export type Goal = NonNullable<PhysicsRequest["goals"]>[number];

const PLACED = ["place", "height_m", "facing_deg"];
/** Of each kind of goal: its model, the fields that count, and a new one. */
const KINDS: Record<string, { model: string; fields: string[]; first: Record<string, Plain> }> = {
  Pose: { model: "PoseGoal", fields: ["at_s", "pose", ...PLACED], first: { at_s: 0.5, pose: { frame: 0 } } },
  Hand: { model: "ContactGoal", fields: ["hand", "start_s", "end_s", "position"], first: { hand: "left", start_s: 0, end_s: 0.3, position: [0, 1, 0] } },
  Foot: { model: "ContactGoal", fields: ["foot", "start_s", "end_s", "position", "facing_deg", "parts"], first: { foot: "left", start_s: 0, end_s: 0.3, position: [0, 0, 0] } },
  Place: { model: "PlaceGoal", fields: ["at_s", ...PLACED], first: { at_s: 0.5, height_m: 1 } },
};
const kindOf = (goal: object): string => ("pose" in goal ? "Pose" : "hand" in goal ? "Hand" : "foot" in goal ? "Foot" : "Place");

function schemaOf(verb: VerbFacts, kind: string): Schema {
  const { $defs = {} } = verb.request as Schema;
  const { model, fields } = KINDS[kind]!;
  const { frame, file } = $defs["PoseSource"]!.properties!;
  const pick = (part: Schema) => Object.fromEntries(fields.map((name) => [name, part.properties![name]!]));
  const PoseSource = { ...$defs["PoseSource"], properties: { frame: frame!, file: file! } };
  return { ...$defs[model], properties: pick($defs[model]!), $defs: { ...$defs, PoseSource } };
}

/** The list, and how it learns of another request. */
export function goalForms(verb: VerbFacts, edit: (label: string, change: (goals: Goal[]) => void) => void) {
  const body = el("div", { class: "entries" });
  let [forms, kinds]: [Form[], string] = [[], ""];
  const one = (goal: Goal, k: number): HTMLElement => {
    const kind = kindOf(goal);
    const form = requestForm(schemaOf(verb, kind), { edit: (label, change) => edit(label, (goals) => change(goals[k] as Record<string, Plain>)) });
    forms.push(form);
    const drop = button(`Remove ${k + 1}`, () => edit("Remove a goal", (goals) => goals.splice(k, 1)), { icon: "close", iconOnly: true, kind: "quiet" });
    return el("div", { class: "entry" }, el("div", { class: "row" }, el("span", {}, `${k + 1} ${kind}`), drop), form.element);
  };
  const add = Object.entries(KINDS).map(([kind, { first }]) =>
    button(kind, () => edit("Add a goal", (goals) => goals.push(structuredClone(first) as unknown as Goal)), { icon: "plus", kind: "quiet" }),
  );
  return {
    element: section("Goals", "closed", body, el("div", { class: "row wrap" }, ...add)),
    set(goals: readonly Goal[]): void {
      const now = goals.map(kindOf).join();
      if (now !== kinds) {
        [forms, kinds] = [[], now];
        refill(body, ...goals.map(one));
      }
      forms.forEach((form, k) => form.set(goals[k]!));
    },
  };
}
