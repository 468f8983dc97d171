/** The library: recordings as clips to look at, search, change and remove. */

import { clipColour } from "../colours";
import { addFiles, CHARACTERS, takeCharacter } from "../dialogs/drop";
import { openRoles } from "../dialogs/roles";
import { button, el, fill, icon } from "../dom";
import type { ClipEntry } from "../messages";
import type { Context, Panel, State } from "../types";
import { archiveList } from "./archive";
import { clipEditor } from "./clip";
import { labelsOf, motionOf, recordingOf, removeClip, shownClips, thumbnail } from "./clips";
import { placeFinder } from "./places";
import { jobStrip, newest, underWay } from "./progress";
import { refill, watch } from "./watch";
import "../panels.css";

/** Says that a text is a query, and not only parts of words. */
const QUERY = /["():*?[]|(^|\s)(and|or|not)(\s|$)/i;
/** Motions that fit beside each other on the stage before it is a crowd. */
const MOST_SHOWN = 8;

export const library: Panel = {
  verb: "library",
  title: "Library",
  mount(left, context) {
    const { store } = context;
    const search = el("input", {
      attrs: {
        type: "search",
        placeholder: store.state.archive ? 'walk or run, "turn left", clip:16_*' : "Name or label",
        "aria-label": "Search the library",
      },
      on: {
        input: () => {
          list.search();
          archive?.search();
        },
      },
    });
    const list = clipList(context, () => search.value);
    const archive = store.state.archive ? archiveList(context, () => search.value) : null;
    archive?.search(0);
    const files = filePicker(context);
    const editor = clipEditor(context);
    left.append(
      el("div", { class: "row" }, el("div", { class: "search" }, icon("search"), search), files.button, files.input),
      characterRow(context),
      jobStrip(context, ["import"]),
      list.element,
      ...(archive ? [archive.element] : []),
      placeFinder(context, () => search.value),
      editor.element,
      buildOffer(context),
    );
    watch(
      store,
      [
        (state) => state.document.clips,
        (state) => state.clips,
        (state) => state.recordings,
        (state) => state.view.theme,
        (state) => state.unsaved === 0, // from then on the server finds what was added
      ],
      () => {
        list.search();
        archive?.redraw();
      },
    );
    store.subscribe((state) => state.view.shown, (_, state) => {
      list.mark(state);
      archive?.mark(state);
    });
    return {
      hint:
        () => (store.state.document.clips.length > 0 || store.state.archive
          ? "Press a clip to watch it; Ctrl+press adds another."
          : "Drop motion files anywhere."),
      onShow: () => {
        editor.show(true);
        archive?.redraw();
      },
      onHide: () => editor.show(false),
    };
  },
};

function clipList(context: Context, query: () => string) {
  const { store } = context;
  const element = el("div", {
    class: "clips",
    attrs: { role: "listbox", "aria-label": "Clips", "aria-multiselectable": true },
    on: { keydown: (event) => keys(event) },
  });
  let rows: { id: string; row: HTMLElement }[] = [];
  /** What the server found, for queries that are more than parts of words. */
  let matched: { query: string; ids: ReadonlySet<string> } | null = null;

  /** Plain words are looked for here, as they are typed; the language of queries is the server's, also of clips that
      came after the query. */
  async function search(): Promise<void> {
    const words = query().trim();
    if (matched?.query !== words) matched = null;
    show(store.state);
    if (!QUERY.test(words) || store.state.document.clips.length === 0) return;
    try {
      const ids = await context.api.get<string[]>(`/api/library/matches?${new URLSearchParams({ query: words }).toString()}`);
      if (query().trim() === words) matched = { query: words, ids: new Set(ids) };
      show(store.state);
    } catch {
      // Not yet a whole query: somebody is typing.
    }
  }

  function select(id: string, more: boolean): void {
    const chosen = shownClips(store.state);
    const next = more
      ? (chosen.includes(id) ? chosen.filter((c) => c !== id) : [...chosen, id].slice(-MOST_SHOWN))
      : [id];
    if (next.length === 0) return;
    store.setView({ shown: next.map((clip) => `clip:${clip}`) });
    context.stage.player.play();
  }

  function keys(event: KeyboardEvent): void {
    const at = rows.findIndex(({ row }) => row === document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    const here = rows[at];
    if (to !== undefined) focus(Math.min(rows.length - 1, Math.max(0, to)));
    else if ((event.key === "Enter" || event.key === " ") && here) select(here.id, event.ctrlKey || event.metaKey);
    else if (event.key === "Delete" && here) removeClip(context, here.id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function focus(index: number): void {
    for (const [k, { row }] of rows.entries()) row.tabIndex = k === index ? 0 : -1;
    rows[index]?.row.focus();
  }

  function show(state: State): void {
    const focused = rows.find(({ row }) => row === document.activeElement)?.id;
    const words = query().toLowerCase().split(/\s+/).filter(Boolean);
    const clips = state.document.clips.filter((entry) => {
      if (matched?.query === query().trim()) return matched.ids.has(entry.id);
      const text = `${entry.name} ${labelsOf(state, entry).join(" ")}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    rows = clips.map((entry) => ({ id: entry.id, row: clipRow(state, entry, select) }));
    for (const [k, { row }] of rows.entries()) row.tabIndex = k === 0 ? 0 : -1;
    const { scrollTop } = element;
    element.classList.toggle("few", state.archive !== null);
    element.hidden = rows.length === 0 && state.archive !== null; // the archive's own list says what there is
    if (rows.length > 0) fill(element, ...rows.map(({ row }) => row));
    else fill(element, state.document.clips.length > 0 ? nothingFound(words.join(" ")) : emptyLibrary(context));
    element.scrollTop = scrollTop;
    mark(state);
    const again = rows.findIndex(({ id }) => id === focused);
    if (again >= 0) focus(again);
  }

  function mark(state: State): void {
    const chosen = new Set(shownClips(state));
    for (const { id, row } of rows) row.setAttribute("aria-selected", String(chosen.has(id)));
  }

  return { element, show, mark, search: () => void search() };
}

function clipRow(state: State, entry: ClipEntry, select: (id: string, more: boolean) => void): HTMLElement {
  const motion = motionOf(state, entry);
  const recording = recordingOf(state, entry);
  const labels = labelsOf(state, entry);
  const facts = motion ? `${(motion.frames / motion.fps).toFixed(1)} s · ${Math.round(motion.fps * 100) / 100} Hz` : "";
  const marks = [entry.trim ? "trimmed" : "", entry.mirrored ? "mirrored" : ""].filter(Boolean).join(", ");
  const row = el(
    "div",
    {
      class: "clip",
      attrs: { role: "option", "aria-label": [entry.name, facts, marks, ...labels].filter(Boolean).join(", ") },
      data: { clip: entry.id, name: entry.name },
      on: { click: (event) => select(entry.id, event.ctrlKey || event.metaKey || event.shiftKey) },
    },
    el("img", {
      attrs: { src: thumbnail(entry, state.view.theme), alt: "", loading: "lazy", width: 56, height: 56, draggable: "false" },
    }),
    el(
      "div",
      { class: "about" },
      el("div", { class: "name" }, entry.name),
      el("div", { class: "quiet-text" }, [facts, marks].filter(Boolean).join(" · ")),
      labels.length > 0
        ? el("div", { class: "chips" }, ...labels.slice(0, 4).map((text) => el("span", { class: "chip" }, text)))
        : null,
    ),
    recording && recording.notes.length > 0
      ? el("span", {
        class: "noted",
        title: recording.notes.join("\n"),
        attrs: { role: "img", "aria-label": "The file has oddities" },
      }, icon("warning"))
      : null,
  );
  row.style.setProperty("--clip", clipColour(entry.name, state.document.clips));
  return row;
}

function filePicker(context: Context) {
  const input = el("input", {
    hidden: true,
    attrs: {
      type: "file",
      multiple: true,
      accept: context.store.state.readable.join(","),
      "aria-label": "Motion files to add",
    },
    on: {
      change: () => {
        void addFiles(context, [...(input.files ?? [])]);
        input.value = "";
      },
    },
  });
  return {
    input,
    button: button("Add", () => input.click(), {
      icon: "plus",
      title: "Add motion files; dropping them anywhere does the same",
    }),
  };
}

/** Who is seen: the mannequin, or a character of one's own. */
function characterRow(context: Context): HTMLElement {
  const { store } = context;
  const input = el("input", {
    hidden: true,
    attrs: { type: "file", accept: CHARACTERS.join(","), "aria-label": "Character file" },
    on: {
      change: () => {
        const file = input.files?.[0];
        if (file) void takeCharacter(context, file, true);
        input.value = "";
      },
    },
  });
  const row = el("div", { class: "row character" });
  watch(store, [(state) => state.view.character, (state) => state.view.character_name], (state) => {
    const { character, character_name: name } = state.view;
    refill(
      row,
      el("span", { class: "quiet-text" }, character ? `Character: ${name}` : "Character: mannequin"),
      button("Choose", () => input.click(), {
        title: "Show a character of your own (.glb, .vrm, .fbx) on the stage and in exports; dropping it does the same",
      }),
      character
        ? button("Joints", () => void openRoles(context, character), {
          title: "See and change which joint is which part of the body",
        })
        : null,
      character
        ? button("Mannequin", () => store.setView({ character: null, character_name: "" }), {
          title: "Show the mannequin again",
        })
        : null,
      input,
    );
  });
  return row;
}

function emptyLibrary(context: Context): HTMLElement {
  const kinds = context.store.state.readable.map((suffix) => suffix.slice(1).toUpperCase()).join(", ");
  return el(
    "div",
    { class: "empty" },
    el("p", {}, "No clips yet."),
    el(
      "p",
      { class: "quiet-text" },
      `Drop motion files or folders anywhere on this window (${kinds}), or press Add. ASF and AMC go together.`,
    ),
  );
}

function nothingFound(words: string): HTMLElement {
  return el(
    "div",
    { class: "empty" },
    el("p", {}, `No clip is called or labelled “${words}”.`),
    el("p", { class: "quiet-text" }, "Try fewer letters."),
  );
}

/** Says that the graph lags behind the clips, with the button that mends it. */
export function buildOffer(context: Context): HTMLElement {
  const { store, api } = context;
  const offer = el("div", { class: "offer" });
  const strip = jobStrip(context, ["build"]);
  const build = () => api.start({ kind: "build", ask: {} }).catch((error: Error) => store.say(error.message, "error"));
  const show = (state: State) => {
    const building = newest(state.jobs, ["build"]);
    const needed = state.document.clips.length > 0 && !state.graph?.current && !(building && underWay(building));
    const { graph } = state;
    // Motion of a few clips is poor, and whoever has just built the graph does not know why.
    const few = !needed && graph?.measured && graph.kept_count * 2 < graph.clip_count ? graph : null;
    refill(
      offer,
      few && el("p", { class: "quiet-text" }, `Only ${few.kept_count} of ${few.clip_count.toLocaleString("en")} clips are connected.`),
      few && button("See why", () => store.setView({ verb: "graph" })),
      needed
        ? el(
          "p",
          { class: "quiet-text" },
          state.graph ? "The clips have changed since the graph was built." : "These clips are not connected yet.",
        )
        : null,
      needed ? button("Build the graph", () => void build(), { kind: "primary" }) : null,
      strip,
    );
  };
  watch(
    store,
    [(state) => state.graph, (state) => state.document.clips.length > 0, (state) => state.jobs],
    show,
  );
  return offer;
}
