/** The buttons of time: play, step, loop, speed, and where we are. */

import { button, el, toggle } from "../dom";
import type { Player, Store } from "../types";

const SPEEDS = [0.25, 0.5, 1, 1.5, 2, 4];

export function transport(player: Player, store: Store): HTMLElement {
  const play = button("Play", () => player.toggle(), { icon: "play", iconOnly: true, title: "Play or pause (Space)" });
  play.classList.add("play");
  const pause = button("Pause", () => player.toggle(), { icon: "pause", iconOnly: true, title: "Play or pause (Space)" });
  pause.classList.add("play");
  pause.hidden = true;
  const loop = toggle("Loop", player.loop, (on) => store.setView({ loop: on }), { icon: "loop", iconOnly: true, kind: "quiet" });
  const speed = el(
    "select",
    { class: "speed", attrs: { "aria-label": "Speed" }, on: { change: () => store.setView({ speed: Number(speed.value) }) } },
    ...SPEEDS.map((factor) => el("option", { attrs: { value: factor } }, `${factor}×`)),
  );
  const frame = el("span", { class: "frame" });
  const time = el("span", { class: "time" });

  player.subscribe(() => {
    if (play.hidden !== player.playing) {
      const focused = document.activeElement === play || document.activeElement === pause;
      play.hidden = player.playing;
      pause.hidden = !player.playing;
      if (focused) (player.playing ? pause : play).focus();
    }
    frame.textContent = `${Math.round(player.frame)} / ${player.frames - 1}`;
    time.textContent = `${(player.frame / player.fps).toFixed(2)} s`;
  });
  store.subscribe((state) => state.view.loop, (on) => loop.set((player.loop = on)));
  store.subscribe(
    (state) => state.view.speed,
    (factor) => {
      player.speed = factor;
      if (!SPEEDS.includes(factor)) speed.append(el("option", { attrs: { value: factor } }, `${factor}×`));
      speed.value = String(factor);
    },
  );
  const quiet = { iconOnly: true, kind: "quiet" } as const;
  return el(
    "div",
    { class: "transport", attrs: { role: "group", "aria-label": "Playback" } },
    button("First frame", () => player.seek(0), { ...quiet, icon: "first", title: "First frame (Home)" }),
    button("One frame back", () => player.step(-1), { ...quiet, icon: "back", title: "One frame back (←)" }),
    play,
    pause,
    button("One frame on", () => player.step(1), { ...quiet, icon: "forward", title: "One frame on (→)" }),
    button("Last frame", () => player.seek(player.frames - 1), { ...quiet, icon: "last", title: "Last frame (End)" }),
    loop,
    speed,
    el("div", { class: "where" }, el("span", { class: "unit" }, "frame"), frame, time),
  );
}
