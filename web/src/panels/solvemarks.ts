/** When constraints hold, as markers on the timeline that can be dragged. */

import { AMBER, RED } from "../colours";
import type { Marker, Player } from "../types";
import { type Report, reportOn } from "./solvereports";
import { all, cm, said, type SolveDraft, type Where } from "./solverequest";

export interface MarkHooks {
  change(label: string, edit: (ask: SolveDraft) => void, where: Where): void;
  choose(where: Where): void;
}

export function markers(
  ask: SolveDraft,
  reports: ReadonlyMap<string, Report>,
  player: Player,
  hooks: MarkHooks,
): Marker[] {
  const mark = (where: Where, time: number, set: (ask: SolveDraft, time: number) => void): Marker => ({
    frame: time * player.fps,
    label: said(ask, where),
    colour: reportOn(reports, where)?.met === false ? RED : AMBER,
    move: (frame, done) => {
      const to = cm(Math.min(Math.max(frame / player.fps, 0), ask.length_s));
      if (done && to !== time) hooks.change("Move in time", (now) => set(now, to), where);
    },
    click: () => {
      player.seek(time * player.fps);
      hooks.choose(where);
    },
  });
  return all(ask).flatMap((where) => {
    const { kind, index } = where;
    if (kind === "obstacles") return [];
    if (kind !== "labels") return [mark(where, ask[kind][index]!.at_s, (now, time) => (now[kind][index]!.at_s = time))];
    const { start_s, stop_s } = ask.labels[index]!;
    return [
      mark(where, start_s, (now, time) => (now.labels[index]!.start_s = time)),
      mark(where, stop_s, (now, time) => (now.labels[index]!.stop_s = time)),
    ];
  });
}
