/** Clips of two who moved together: those that their names pair, or chosen by hand. */

import { button, el, select } from "../dom";
import type { Examples, PerformRequest } from "../messages";
import type { Context } from "../types";
import { clipNames } from "./clips";
import { refill } from "./watch";

type Pair = [string, string];

export interface PairsHooks {
  change(label: string, pairs: Pair[] | null): void;
}

export interface Pairs {
  element: HTMLElement;
  set(ask: PerformRequest, found: Examples | null): void;
}

export function pairsEditor({ store }: Context, hooks: PairsHooks): Pairs {
  const list = el("ul", { class: "pairs", attrs: { "aria-label": "Pairs" } });
  let present: Pair[] = [];
  let chosen: [string, string] = ["", ""];
  const side = (k: 0 | 1, label: string) => select<string>(label, [], "", (id) => (chosen[k] = id));
  const sides = [side(0, "Leader"), side(1, "Follower")] as const;
  const add = button(
    "Add the pair",
    () => {
      const [leader, follower] = chosen;
      if (!leader || !follower || leader === follower) return store.say("Choose two different clips.", "error");
      hooks.change(`Pair ${leader} with ${follower}`, [...present, [leader, follower]]);
    },
    { icon: "plus" },
  );
  const byName = button("Pair by names", () => hooks.change("Pair by names", null), {
    kind: "quiet",
    title: "60_01 with 61_01, dance_leader with dance_follower",
  });
  return {
    element: el(
      "div",
      { class: "pairing" },
      list,
      sides[0].element,
      sides[1].element,
      el("div", { class: "row" }, add, byName),
    ),
    set(ask, found) {
      const named = (found?.examples ?? []).flatMap((one): Pair[] => (one.leader ? [[one.leader, one.name]] : []));
      present = ask.pairs ?? named;
      const clips = clipNames(store.state, "examples").map((name) => ({ value: name, label: name }));
      chosen = chosen.map((id, k) => (clips.some(({ value }) => value === id) ? id : (clips[k]?.value ?? ""))) as Pair;
      sides.forEach((control, k) => {
        control.setChoices(clips);
        control.set(chosen[k]!);
      });
      byName.disabled = !ask.pairs;
      const remove = (at: number) =>
        hooks.change(
          `Part ${present[at]![0]}`,
          present.filter((_, k) => k !== at),
        );
      refill(
        list,
        ...present.map(([leader, follower], k) =>
          el(
            "li",
            { class: "row" },
            el("span", {}, `${leader} → ${follower}`),
            button(`Part ${leader} and ${follower}`, () => remove(k), {
              icon: "close",
              iconOnly: true,
              kind: "quiet",
            }),
          ),
        ),
        present.length === 0 ? el("li", { class: "quiet-text" }, "No two clips are paired.") : null,
      );
    },
  };
}
