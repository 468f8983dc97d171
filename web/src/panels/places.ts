/** Places in the library: like what is on the stage, or by speed, turn and feet. */

import { button, el, fill, section, select, textField } from "../dom";
import type { FindAnswer, FindAsk, FoundPlace } from "../messages";
import type { Context } from "../types";

type Feet = "" | NonNullable<FindAsk["contact"]>;

const FEET: { value: Feet; label: string }[] = [
  { value: "", label: "Any" },
  { value: "left", label: "Left foot alone" },
  { value: "right", label: "Right foot alone" },
  { value: "both", label: "Both feet" },
  { value: "none", label: "In the air" },
];

export function placeFinder(context: Context, query: () => string): HTMLElement {
  const { store, api, stage } = context;
  const wanted: { speed: string; turn: string; contact: Feet } = { speed: "", turn: "", contact: "" };
  const said = el("p", { class: "quiet-text", attrs: { role: "status" } });
  const list = el("div", { class: "places", attrs: { role: "list", "aria-label": "Places found" } });
  let number = 0;

  async function ask(like: Partial<FindAsk>): Promise<void> {
    const own = ++number;
    said.textContent = "Looking …";
    const { speed, turn, contact } = wanted;
    const body: FindAsk = {
      only: query().trim(),
      ...(speed.trim() ? { speed: speed.trim() } : {}),
      ...(turn.trim() ? { turn: turn.trim() } : {}),
      ...(contact ? { contact } : {}),
      ...like,
    };
    try {
      const found = await api.send<FindAnswer>("POST", "/api/find", body);
      if (own === number) show(found, like.like !== undefined);
    } catch (error) {
      if (own !== number) return;
      said.textContent = (error as Error).message;
      fill(list);
    }
  }

  function show({ places, total, hint }: FindAnswer, alike: boolean): void {
    said.textContent = places.length === 0
      ? `Nothing found: ${hint || "nothing is all that at once"}.`
      : alike
      ? `The nearest ${places.length}.`
      : `${total.toLocaleString("en")} place${total === 1 ? "" : "s"}${total > places.length ? `, the longest ${places.length}` : ""}.`;
    fill(list, ...places.map(row));
  }

  function row(place: FoundPlace): HTMLElement {
    const when = `${place.start_s.toFixed(1)}–${place.stop_s.toFixed(1)} s`;
    const how = [
      place.distance_m === null ? null : `${(100 * place.distance_m).toFixed(1)} cm`,
      place.speed_m_s === null ? null : `${place.speed_m_s.toFixed(1)} m/s`,
      place.turn_deg === null || Math.abs(place.turn_deg) < 5 ? null : `${Math.abs(place.turn_deg).toFixed(0)}° ${place.turn_deg > 0 ? "left" : "right"}`,
    ].filter(Boolean).join(" · ");
    return el(
      "div",
      { attrs: { role: "listitem" } },
      el(
        "button",
        { class: "place", attrs: { type: "button" }, data: { clip: place.clip }, on: { click: () => void go(place) } },
        el("span", { class: "name" }, place.name),
        el("span", { class: "quiet-text" }, `${when} · ${how}`),
      ),
    );
  }

  /** Show the clip from where the place begins. */
  async function go(place: FoundPlace): Promise<void> {
    const id = `clip:${place.clip}`;
    store.setView({ shown: [id] });
    try {
      const motion = await api.motion(id);
      await stage.show([id]);
      stage.player.seek(place.start_s * motion.fps);
      stage.player.play();
    } catch (error) {
      store.say((error as Error).message, "error");
    }
  }

  /** The second that begins where the stage is, of the first motion on it. */
  function likeThis(): void {
    const [id] = stage.wanted;
    if (!id) return store.say("Show a clip or a result first: what is like it is sought.", "error");
    const { frame, frames, fps } = stage.player;
    const start = Math.max(0, Math.min(frame, frames - fps - 1)) / fps;
    void ask({ like: id, start_s: start, end_s: Math.min(start + 1, (frames - 1) / fps) });
  }

  const search = () => void ask({});
  const range = (label: string, placeholder: string, hint: string, set: (text: string) => void) =>
    textField(label, "", (text) => {
      set(text);
      search();
    }, placeholder, hint).element;
  return section(
    "Find places",
    "closed",
    button("Like this second", likeThis, { title: "What moves like the second that begins here, of the motion on the stage" }),
    el(
      "div",
      { class: "pair" },
      range("Speed, m/s", "1..2", "From and to: 1..2, 3.. or ..0.2", (text) => (wanted.speed = text)),
      range("Turn in 1 s, °", "90..", "From and to, to either side", (text) => (wanted.turn = text)),
    ),
    select("Feet on the floor", FEET, "", (value) => {
      wanted.contact = value;
      search();
    }).element,
    said,
    list,
  );
}
