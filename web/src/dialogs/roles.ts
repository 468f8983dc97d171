/** Which joint of a character is which part of the body: shown, and set right by hand. */

import { button, dialog, el, select } from "../dom";
import type { CharacterFacts } from "../messages";
import type { Context } from "../types";

const NONE = "";
/** Without these nobody walks. */
const NEEDED = /_(upper_leg|lower_leg|foot)$/;

/** Ask which joint is which; the character is on the stage when legs are complete. */
export function showRoles(context: Context, found: CharacterFacts): void {
  const roles = { ...found.roles };
  const choices = [{ value: NONE, label: "none" }, ...found.joints.map((joint) => ({ value: joint, label: joint }))];
  const rows = Object.entries(roles).map(([role, joint]) => {
    const field = select(words(role), choices, joint, (value) => {
      roles[role] = value;
      mark();
    });
    field.element.dataset.role = role;
    return { role, field };
  });
  const mark = () => {
    for (const { role, field } of rows) {
      field.setError(NEEDED.test(role) && !roles[role] ? "Legs need it: choose a joint" : null);
    }
    use.disabled = rows.some(({ role }) => NEEDED.test(role) && !roles[role]);
  };
  const use = button("Use these joints", () => void save(), { kind: "primary" });
  const lead = found.missing.length > 0
    ? `Not found: ${found.missing.join(", ")}. Choose the joints that they are.`
    : "Motion is put on the character by these joints. Spine and fingers follow by themselves.";
  const window = dialog(
    `Joints of ${found.name}`,
    el("p", {}, lead),
    el("div", { class: "roles" }, ...rows.map(({ field }) => field.element)),
    el("div", { class: "row" }, use),
  );
  window.classList.add("roles-dialog");
  mark();

  async function save(): Promise<void> {
    const { store, api } = context;
    try {
      use.disabled = true;
      const changed = await api.send<CharacterFacts>("POST", `/api/characters/${found.id}/roles`, { name: found.name, roles });
      store.setView({ character: changed.id, character_name: changed.name });
      store.say(`${changed.name} is on the stage and in exports.`);
      window.close();
    } catch (error) {
      use.disabled = false;
      store.say((error as Error).message, "error");
    }
  }
}

/** The same for a character that is in the project. */
export async function openRoles(context: Context, character: string): Promise<void> {
  const { store, api } = context;
  try {
    const found = await api.get<CharacterFacts>(`/api/characters/${character}`);
    showRoles(context, { ...found, name: store.state.view.character_name || found.name });
  } catch (error) {
    store.say((error as Error).message, "error");
  }
}

/** "left_upper_leg" as people say it. */
function words(role: string): string {
  const text = role.replaceAll("_", " ");
  return text[0]!.toUpperCase() + text.slice(1);
}
