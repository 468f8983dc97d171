/** What a performance was understood as: a list, marks on the timeline, and files to take away. */

import { clipColour, TEAL } from "../colours";
import { button, el } from "../dom";
import type { Plain, Result } from "../messages";
import type { Context, Marker } from "../types";
import { download } from "./verb";
import { refill } from "./watch";

/** Pieces that are less sure have a rival that does about as well. */
const SURE = 0.5;

/** A recorded segment that a performance is made of: when, which, and how sure; as transcriptions have it. */
export interface Piece {
  start_s: number;
  stop_s: number;
  recording: string;
  recording_start_s: number;
  residual_m: number;
  /** 0 where another segment does as well, near 1 where none comes near. */
  sure: number;
  /** The next best segment. */
  rival: string | null;
  [name: string]: Plain;
}

/** Frames [start, stop) in which a hand of the first person holds one of the second. */
export interface Hold {
  start: number;
  stop: number;
  joint: number;
  other: number;
  [name: string]: Plain;
}

export const piecesOf = (result: Result): Piece[] => (result.details["pieces"] ?? []) as Piece[];
export const holdsOf = (result: Result): Hold[] => (result.details["holds"] ?? []) as Hold[];

export interface Pieces {
  element: HTMLElement;
  /** Show those of a result; null shows none. */
  set(result: Result | null): void;
  /** The same as marks on the timeline. */
  markers(result: Result): Marker[];
}

export function piecesView(context: Context): Pieces {
  const list = el("ol", { class: "pieces" });
  const none = el("p", { class: "quiet-text" }, "Once something is performed, here is what it is made of.");
  let shown: Result | null = null;
  const save = (kind: "csv" | "json") => {
    if (!shown) return;
    const text = kind === "csv" ? asCsv(piecesOf(shown)) : `${JSON.stringify(piecesOf(shown), null, 1)}\n`;
    download(`${shown.name.replace(/[^\w-]+/g, "_")}.${kind}`, text, kind === "csv" ? "text/csv" : "application/json");
  };
  const files = el(
    "div",
    { class: "row" },
    button("Transcription (CSV)", () => save("csv"), { icon: "export" }),
    button("JSON", () => save("json"), { kind: "quiet", title: "The same as JSON" }),
  );
  const seek = ({ start_s }: Piece) => context.stage.player.seek(start_s * context.stage.player.fps);
  return {
    element: el("div", {}, none, list, files),
    set(result) {
      shown = result;
      none.hidden = result !== null;
      files.hidden = list.hidden = result === null;
      const clips = context.store.state.document.clips;
      refill(
        list,
        ...(result ? piecesOf(result) : []).map((piece) => row(piece, clipColour(piece.recording, clips), () => seek(piece))),
      );
    },
    markers(result) {
      const fps = result.motions[0]!.fps;
      return piecesOf(result).map((piece) => ({
        frame: piece.start_s * fps,
        label: said(piece),
        colour: piece.sure >= SURE ? TEAL : "#98a1af",
        click: () => seek(piece),
      }));
    },
  };
}

function row(piece: Piece, colour: string, open: () => void): HTMLElement {
  const sure = el("span", { class: "sure", title: `${percent(piece.sure)} sure` });
  sure.style.setProperty("--sure", String(piece.sure));
  const entry = el(
    "button",
    { class: "piece", title: said(piece), attrs: { type: "button", "aria-label": said(piece) }, on: { click: open } },
    el("span", { class: "at" }, piece.start_s.toFixed(2)),
    el("span", { class: "what" }, `${piece.recording} @ ${piece.recording_start_s.toFixed(2)}`),
    el("span", { class: "off" }, `${(100 * piece.residual_m).toFixed(1)} cm`),
    sure,
  );
  entry.style.setProperty("--clip", colour);
  return el("li", {}, entry);
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** A piece in words. */
function said(piece: Piece): string {
  const rival = piece.rival === null ? "" : `; else ${piece.rival}`;
  return (
    `${piece.start_s.toFixed(2)} s: ${piece.recording} from ${piece.recording_start_s.toFixed(2)} s, ` +
    `${(100 * piece.residual_m).toFixed(1)} cm off, ${percent(piece.sure)} sure${rival}`
  );
}

function asCsv(pieces: readonly Piece[]): string {
  const names = Object.keys(pieces[0] ?? {}).filter((name) => typeof pieces[0]![name] !== "object" || name === "labels" || pieces[0]![name] === null);
  const cell = (value: unknown): string => {
    const text = Array.isArray(value) ? value.join("; ") : value === null ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return (
    [names.join(","), ...pieces.map((piece) => names.map((name) => cell(piece[name])).join(","))].join("\r\n") + "\r\n"
  );
}
