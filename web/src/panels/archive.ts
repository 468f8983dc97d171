/** The clips of a large .mog file: folders that open, rows drawn where they are seen, asked for a page at a time. */

import { clipColour } from "../colours";
import { button, el, fill, icon } from "../dom";
import type { ArchiveClip, ArchiveFolder, ArchivePage } from "../messages";
import type { Context, State } from "../types";
import { shownClips } from "./clips";
import "./archive.css";

const PAGE = 60;
const ROW_PX = 64;
const HEAD_PX = 32;
/** Rows drawn beyond what is seen, on either side. */
const SPARE = 6;
/** Found clips up to which all folders are open. */
const FEW = 60;
const TYPING_MS = 150;
/** A row must be seen for so long before its picture is asked for: who scrolls past needs none. */
const LOOK_MS = 120;
/** Rows that are kept to be drawn again. */
const ROWS_KEPT = 400;

/** A row of the list: a folder, or a clip of it by its number there. */
interface Item {
  folder: ArchiveFolder;
  clip: number | null;
  top: number;
}

/** The id that a clip of the archive has among one's own. */
const taken = (id: string): string => `c${id}`;

export function archiveList(context: Context, query: () => string) {
  const { store, api } = context;
  const space = el("div", { class: "space" });
  const said = el("p", { class: "found quiet-text", attrs: { role: "status" } });
  const list = el("div", {
    class: "clips archive",
    attrs: { role: "tree", "aria-label": "Clips of the archive", "aria-multiselectable": true },
    on: { scroll: () => soon(), keydown: (event) => keys(event) },
  }, space);
  const about = el("section", { class: "section chosen", attrs: { "aria-label": "The chosen clip of the archive" } });
  const element = el("div", { class: "archive-panel" }, said, list, about);

  let folders: ArchiveFolder[] = [];
  let tops: number[] = [];
  let height = 0;
  let asked = "";
  let active = 0;
  let timer = 0;
  let drawing = 0;
  let looking = 0;
  const open = new Set<string>();
  const pages = new Map<string, ArchiveClip[] | "coming">();
  const seen = new Map<string, ArchiveClip>();
  const rows = new Map<string, HTMLElement>();

  const address = (more: Record<string, string>) =>
    `/api/archive?${new URLSearchParams({ query: asked, ...more }).toString()}`;

  async function search(): Promise<void> {
    const words = query().trim();
    const before = asked;
    asked = words;
    try {
      const page = await api.get<ArchivePage>(address({ count: "0" }));
      if (asked !== words) return; // somebody typed on
      folders = page.folders;
      pages.clear();
      open.clear();
      if (page.total <= FEW || folders.length === 1) for (const folder of folders) open.add(folder.name);
      const count = page.total.toLocaleString("en");
      said.textContent = page.total > 0
        ? `${count} clip${page.total === 1 ? "" : "s"}${words ? " found" : ""}`
        : page.hint || "No clip is all that at once.";
      active = 0;
      list.scrollTop = 0;
      layOut();
    } catch (error) {
      if (asked === words) [asked, said.textContent] = [before, (error as Error).message];
    }
  }

  function layOut(): void {
    let top = 0;
    tops = folders.map((folder) => {
      const here = top;
      top += HEAD_PX + (open.has(folder.name) ? folder.clips * ROW_PX : 0);
      return here;
    });
    height = top;
    space.style.height = `${height}px`;
    draw();
  }

  function soon(): void {
    drawing ||= requestAnimationFrame(() => draw());
  }

  /** Rows between two heights. */
  function between(low: number, high: number): Item[] {
    const items: Item[] = [];
    folders.forEach((folder, k) => {
      const top = tops[k]!;
      const end = tops[k + 1] ?? height;
      if (end < low || top > high) return;
      items.push({ folder, clip: null, top });
      if (!open.has(folder.name)) return;
      const first = Math.max(0, Math.floor((low - top - HEAD_PX) / ROW_PX));
      const last = Math.min(folder.clips - 1, Math.floor((high - top - HEAD_PX) / ROW_PX));
      for (let n = first; n <= last; n++) items.push({ folder, clip: n, top: top + HEAD_PX + n * ROW_PX });
    });
    return items;
  }

  function clipAt({ folder, clip }: Item): ArchiveClip | undefined {
    const page = Math.floor(clip! / PAGE);
    const key = `${page} ${folder.name}`;
    const held = pages.get(key);
    if (held === undefined) {
      pages.set(key, "coming");
      const words = asked;
      api.get<ArchivePage>(address({ folder: folder.name, start: String(page * PAGE), count: String(PAGE) })).then(
        ({ clips }) => {
          if (words !== asked) return;
          pages.set(key, clips);
          for (const one of clips) seen.set(one.id, one);
          draw(); // not with the next picture of the stage: where that is drawn in software, it takes a while
        },
        (error: Error) => {
          pages.delete(key);
          store.say(error.message, "error");
        },
      );
      return undefined;
    }
    return held === "coming" ? undefined : held[clip! - page * PAGE];
  }

  function draw(): void {
    cancelAnimationFrame(drawing);
    drawing = 0;
    const view = list.clientHeight || 400;
    const focused = list.contains(document.activeElement);
    const margin = SPARE * ROW_PX;
    const items = between(list.scrollTop - margin, list.scrollTop + view + margin);
    fill(space, ...items.map((item) => (item.clip === null ? head(item) : row(item))));
    mark(store.state);
    if (focused) focus(active, false);
    window.clearTimeout(looking);
    looking = window.setTimeout(picture, LOOK_MS);
  }

  /** Ask for the pictures of the rows that are seen. */
  function picture(): void {
    for (const image of space.querySelectorAll<HTMLImageElement>("img[data-src]")) {
      image.src = image.dataset.src!;
      delete image.dataset.src;
    }
  }

  function head(item: Item): HTMLElement {
    const { folder } = item;
    const isOpen = open.has(folder.name);
    const made = el(
      "div",
      {
        class: "folder",
        attrs: { role: "treeitem", "aria-level": 1, "aria-expanded": isOpen, "aria-label": `${folder.name || "others"}, ${folder.clips} clips` },
        data: { folder: folder.name },
        on: { click: () => fold(folder.name, !isOpen) },
      },
      icon("chevron"),
      el("span", { class: "name" }, folder.name || "others"),
      el("span", { class: "quiet-text" }, folder.clips.toLocaleString("en")),
    );
    made.addEventListener("focus", () => (active = item.top));
    return placed(item, made);
  }

  function row(item: Item): HTMLElement {
    const clip = clipAt(item);
    if (!clip) return placed(item, el("div", { class: "clip waiting", attrs: { role: "treeitem", "aria-level": 2, "aria-busy": true } }));
    const facts = `${clip.seconds.toFixed(1)} s · ${Math.round(clip.fps * 100) / 100} Hz`;
    const theme = store.state.view.theme;
    const key = `${clip.id} ${theme}`;
    const known = rows.get(key);
    if (known) return placed(item, known);
    const made = el(
      "div",
      {
        class: "clip",
        attrs: { role: "treeitem", "aria-level": 2, "aria-label": [clip.name, facts, ...clip.labels].join(", ") },
        data: { clip: clip.id, name: clip.name },
        on: { click: (event) => choose(clip.id, event.ctrlKey || event.metaKey || event.shiftKey) },
      },
      el("img", {
        attrs: { alt: "", width: 56, height: 56, draggable: "false" },
        data: { src: `/api/clips/${clip.id}/thumbnail.png?theme=${theme}` },
      }),
      el(
        "div",
        { class: "about" },
        el("div", { class: "name" }, clip.name),
        el("div", { class: "quiet-text" }, facts),
        clip.labels.length > 0
          ? el("div", { class: "chips" }, ...clip.labels.slice(0, 4).map((text) => el("span", { class: "chip" }, text)))
          : null,
      ),
    );
    made.style.setProperty("--clip", clipColour(clip.name, []));
    made.addEventListener("focus", () => (active = Number(made.dataset.top)));
    rows.set(key, made);
    if (rows.size > ROWS_KEPT) rows.delete(rows.keys().next().value!);
    return placed(item, made);
  }

  function placed(item: Item, made: HTMLElement): HTMLElement {
    made.style.top = `${item.top}px`;
    made.tabIndex = item.top === active ? 0 : -1;
    made.dataset.top = String(item.top);
    return made;
  }

  function fold(name: string, isOpen: boolean): void {
    if (isOpen) open.add(name);
    else open.delete(name);
    layOut();
  }

  function choose(id: string, more: boolean): void {
    const chosen = shownClips(store.state);
    const next = more ? (chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-8)) : [id];
    if (next.length === 0) return;
    store.setView({ shown: next.map((clip) => `clip:${clip}`) });
    context.stage.player.play();
  }

  /** Move to the row at a height, and scroll to it. */
  function focus(top: number, scroll = true): void {
    active = top;
    if (scroll) {
      const tall = list.clientHeight;
      if (top < list.scrollTop) list.scrollTop = top;
      else if (top + ROW_PX > list.scrollTop + tall) list.scrollTop = top + ROW_PX - tall;
      draw();
    }
    const there = space.querySelector<HTMLElement>(`[data-top="${top}"]`);
    if (there) {
      for (const other of space.querySelectorAll<HTMLElement>("[tabindex='0']")) other.tabIndex = -1;
      there.tabIndex = 0;
      there.focus({ preventScroll: true });
    }
  }

  function keys(event: KeyboardEvent): void {
    const here = (document.activeElement as HTMLElement | null)?.dataset ?? {};
    const top = Number(here.top ?? active);
    const step = (way: 1 | -1) => {
      const near = between(top - ROW_PX - 1, top + ROW_PX + HEAD_PX + 1).map((item) => item.top);
      const to = way > 0 ? near.find((one) => one > top) : near.filter((one) => one < top).at(-1);
      if (to !== undefined) focus(to);
    };
    if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(between(height - ROW_PX, height).at(-1)?.top ?? 0);
    else if (event.key === "ArrowRight" && here.folder !== undefined) fold(here.folder, true);
    else if (event.key === "ArrowLeft" && here.folder !== undefined) fold(here.folder, false);
    else if (event.key === "Enter" || event.key === " ") {
      if (here.folder !== undefined) fold(here.folder, !open.has(here.folder));
      else if (here.clip) choose(here.clip, event.ctrlKey || event.metaKey);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function mark(state: State): void {
    const chosen = new Set(shownClips(state));
    for (const one of space.querySelectorAll<HTMLElement>("[data-clip]"))
      one.setAttribute("aria-selected", String(chosen.has(one.dataset.clip!)));
    const only = chosen.size === 1 ? [...chosen][0]! : "";
    const clip = state.document.clips.some(({ id }) => id === only || id === taken(only)) ? undefined : seen.get(only);
    about.hidden = !clip;
    if (!clip || about.dataset.clip === clip.id) return;
    about.dataset.clip = clip.id;
    fill(
      about,
      el("p", {}, el("strong", {}, clip.name), ` · ${[clip.folder, ...clip.labels].filter(Boolean).join(" · ")}`),
      button("Take into my clips", () => take(clip), {
        title: "To trim, mirror or label it, or to use it as a recorded example; the archive stays as it is",
      }),
    );
  }

  function take(clip: ArchiveClip): void {
    const id = taken(clip.id);
    void store.change(`Take ${clip.name}`, (document) => {
      if (!document.clips.some((known) => known.id === id))
        document.clips.push({ id, source: clip.id, name: clip.name, trim: null, mirrored: false, labels: null });
    });
    store.say(`${clip.name} is one of your clips now, at the top of the library.`, "done");
  }

  return {
    element,
    mark,
    redraw: soon,
    /** After a moment in which nobody types. */
    search(at = TYPING_MS): void {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => void search(), at);
    },
  };
}
