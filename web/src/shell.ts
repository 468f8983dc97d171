/** The frame around the stage: bar, tabs of the verbs, columns, hint, status, and which panel is open. */

import { jobsButton } from "./dialogs/jobs";
import { button, el, fill, menu, toggle } from "./dom";
import { onHand } from "./hands";
import { toBegin } from "./panels/clips";
import type { Context, Panel, PanelHandle, Store } from "./types";
import { fillField } from "./typing";
import { undoButtons } from "./undo";

const NARROW = "(max-width: 1024px)";
const STATUS_MS = 6000;

type Side = "left" | "right";

export interface ShellParts {
  element: HTMLElement;
  stageParent: HTMLElement;
  left: HTMLElement;
  right: HTMLElement;
}

/** The frame itself; `furnish` fills it once there is a stage. */
export function makeShell(): ShellParts {
  const left = el("aside", { class: "side left", id: "left", attrs: { "aria-label": "What to do" } });
  const right = el("aside", { class: "side right", id: "right", attrs: { "aria-label": "Results" } });
  const stageParent = el("main", { class: "middle" });
  const element = el("div", { class: "shell" }, left, stageParent, right);
  return { element, stageParent, left, right };
}

/** Kinds of jobs that a graph comes from. */
const MAKING = ["import", "build"];

export class Shell {
  private readonly tabs = el("div", { class: "tabs", attrs: { role: "tablist", "aria-label": "Verbs" } });
  private readonly more: HTMLButtonElement = button("More verbs", () => this.openMore(), {
    icon: "more", iconOnly: true, kind: "quiet", title: "Verbs that there is no room for",
  });
  private readonly hint = el("p", { class: "hint", attrs: { role: "status" } });
  private readonly mounted = new Map<string, { body: HTMLElement; handle: PanelHandle; scrolled: number }>();
  private open: string | null = null;

  constructor(
    private readonly parts: ShellParts,
    private readonly context: Context,
    private readonly panels: readonly Panel[],
  ) {
    const { store } = context;
    parts.element.prepend(this.bar());
    parts.stageParent.append(el("div", { class: "top" }, this.hint, this.looks()), status(store));
    onHand(() => this.refreshHint());
    for (const side of ["left", "right"] as const) this.setSide(side, this.remembered(side));
    this.drawTabs();
    store.subscribe((state) => state.jobs, () => this.refreshHint());
    store.subscribe(({ document, results }) => document.clips.length + results.length > 0, () => this.refreshHint());
    store.subscribe((state) => state.view.verb, (verb) => this.show(verb));
    store.subscribe((state) => state.document.name, (name) => (document.title = `${name} – Choreograph`));
    window.matchMedia(NARROW).addEventListener("change", () => {
      for (const side of ["left", "right"] as const) this.setSide(side, this.remembered(side));
    });
  }

  // -------------------------------------------------------------- verbs

  private show(wanted: string): void {
    const { panels } = this;
    const panel = panels.find(({ verb }) => verb === wanted) ?? panels[0];
    if (!panel || panel.verb === this.open) return;
    if (this.open) {
      const before = this.mounted.get(this.open)!;
      before.scrolled = this.parts.left.scrollTop;
      before.handle.onHide?.();
      before.body.hidden = true;
    }
    this.open = panel.verb;
    this.context.stage.camera.held = false; // what was drawn there is not drawn here
    let now = this.mounted.get(panel.verb);
    if (!now) {
      const body = el("div", { class: `panel ${panel.verb}`, attrs: { role: "tabpanel", "aria-label": panel.title } });
      this.parts.left.append(body);
      now = { body, handle: panel.mount(body, this.context), scrolled: 0 };
      this.mounted.set(panel.verb, now);
    }
    now.body.hidden = false;
    document.body.dataset.verb = panel.verb;
    now.handle.onShow?.();
    this.parts.left.scrollTop = now.scrolled;
    this.drawTabs();
    this.refreshHint();
  }

  refreshHint(): void {
    const handle = this.open ? this.mounted.get(this.open)?.handle : undefined;
    const { state } = this.context.store;
    const { graph, jobs, verbs } = state;
    // Before there is a graph, what is being made is the next thing to happen.
    const making = graph ? undefined : jobs.find((job) => job.state === "running" && MAKING.includes(job.kind));
    const verb = verbs.find(({ name }) => name === this.open);
    const first = verb || this.open === "graph" ? toBegin(state) : null;
    const text = making ? `${making.title} …` : (first ?? handle?.hint?.() ?? "");
    if (this.hint.textContent !== text) this.hint.textContent = text;
  }

  private drawTabs(): void {
    const { panels } = this;
    const tabs = panels.map(({ verb, title }) => {
      const chosen = verb === this.open;
      return el(
        "button",
        {
          class: "tab",
          data: { verb },
          attrs: { type: "button", role: "tab", "aria-selected": chosen, "aria-controls": "left", tabindex: chosen ? 0 : -1 },
          on: { click: () => this.choose(verb) },
        },
        title,
      );
    });
    const focused = this.tabs.contains(document.activeElement);
    this.tabs.replaceChildren(...tabs);
    tabs.find((tab) => tab.dataset.verb === this.open)?.scrollIntoView({ inline: "nearest", block: "nearest" });
    if (focused) tabs.find((tab) => tab.dataset.verb === this.open)?.focus();
    this.noteRoom();
  }

  /** Tabs that are scrolled out of the bar, in part or whole. */
  private outOfSight(): HTMLElement[] {
    const { left, right } = this.tabs.getBoundingClientRect();
    return Array.from(this.tabs.querySelectorAll<HTMLElement>(".tab")).filter((tab) => {
      const box = tab.getBoundingClientRect();
      return box.left < left - 1 || box.right > right + 1;
    });
  }

  /** A tab that there is half room for is not seen: the menu has it. */
  private noteRoom(): void {
    this.more.hidden = this.tabs.scrollWidth <= this.tabs.clientWidth;
    const out = this.outOfSight();
    for (const tab of this.tabs.children) tab.classList.toggle("cut", out.includes(tab as HTMLElement));
  }

  private openMore(): void {
    menu(this.more, this.outOfSight().map((tab) => ({ label: tab.textContent ?? "", run: () => this.choose(tab.dataset.verb!) })));
  }

  private choose(verb: string): void {
    const again = verb === this.open;
    this.context.store.setView({ verb });
    if (matchMedia(NARROW).matches) this.setSide("left", again ? this.parts.element.dataset.left !== "open" : true);
    else if (this.parts.element.dataset.left === "closed") this.setSide("left", true);
  }

  // -------------------------------------------------------------- columns

  /** Wide windows remember which columns are open; narrow ones begin with none, where they lie over the stage. */
  private remembered(side: Side): boolean {
    return !matchMedia(NARROW).matches && localStorage.getItem(`choreograph.${side}`) !== "closed";
  }

  toggleSide(side: Side): void {
    const open = this.parts.element.dataset[side] !== "open";
    this.setSide(side, open);
    if (!matchMedia(NARROW).matches) localStorage.setItem(`choreograph.${side}`, open ? "open" : "closed");
  }

  private setSide(side: Side, open: boolean): void {
    this.parts.element.dataset[side] = open ? "open" : "closed";
    if (open && matchMedia(NARROW).matches) this.parts.element.dataset[side === "left" ? "right" : "left"] = "closed";
    for (const one of ["left", "right"] as const) {
      this.sides[one]?.set(this.parts.element.dataset[one] === "open");
    }
  }

  private readonly sides: Partial<Record<Side, { set(pressed: boolean): void }>> = {};

  private side(side: Side, label: string, key: string): HTMLElement {
    const element = toggle(label, true, () => this.toggleSide(side), {
      icon: side, iconOnly: true, kind: "quiet", title: `${label} (${key})`,
    });
    element.classList.add("side-toggle");
    element.setAttribute("aria-controls", side);
    this.sides[side] = element;
    return element;
  }

  // -------------------------------------------------------------- bar and stage corners

  toggleTheme(): void {
    const { store } = this.context;
    store.setView({ theme: store.state.view.theme === "dark" ? "light" : "dark" });
  }

  private bar(): HTMLElement {
    const { store, api } = this.context;
    const name = el("input", {
      class: "project-name",
      attrs: { type: "text", "aria-label": "Project name", spellcheck: false, maxlength: 200 },
    });
    store.subscribe((state) => state.document.name, (now) => fillField(name, now));
    name.addEventListener("change", () => {
      const wanted = name.value.trim();
      if (wanted && wanted !== store.state.document.name) void store.change("Rename project", (document) => (document.name = wanted));
      else name.value = store.state.document.name;
    });
    name.addEventListener("keydown", (event) => event.key === "Enter" && name.blur());
    this.tabs.addEventListener("keydown", (event) => this.walkTabs(event));
    this.more.setAttribute("aria-haspopup", "menu");
    new ResizeObserver(() => this.noteRoom()).observe(this.tabs);
    this.tabs.addEventListener("scroll", () => this.noteRoom());
    const theme = button("Light or dark", () => this.toggleTheme(), { icon: "sun", iconOnly: true, kind: "quiet", title: "Light or dark (T)" });
    return el(
      "header",
      { class: "bar" },
      el(
        "div",
        { class: "brand" },
        this.side("left", "Left column", "["),
        el("strong", {}, "Choreograph"),
        el("span", { class: "between", attrs: { "aria-hidden": "true" } }, "·"),
        name,
      ),
      this.tabs,
      this.more,
      el(
        "div",
        { class: "tools" },
        jobsButton(store, api),
        ...undoButtons(store),
        el("span", { class: "gap" }),
        button("Export", () => this.context.openExport(), { icon: "export", kind: "quiet", title: "Export (Ctrl+E)" }),
        theme,
        button("All keys", () => this.context.openHelp(), { icon: "help", iconOnly: true, kind: "quiet", title: "All keys (?)" }),
        this.side("right", "Results column", "]"),
      ),
    );
  }

  private walkTabs(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const { panels } = this;
    const at = panels.findIndex(({ verb }) => verb === this.open);
    this.context.store.setView({ verb: panels[(at + step + panels.length) % panels.length]!.verb });
  }

  private looks(): HTMLElement {
    const { store, stage } = this.context;
    const make = (field: "follow_camera" | "ghosts" | "paths" | "contacts", name: "camera" | "ghosts" | "path" | "feet", label: string) => {
      const element = toggle(label, false, (on) => store.setView({ [field]: on }), {
        icon: name, iconOnly: true, kind: "quiet", title: label,
      });
      store.subscribe((state) => state.view[field], (on) => element.set(on));
      return element;
    };
    const beside = toggle("Figures side by side", false, (on) => beside.set((stage.sideBySide = on)), {
      icon: "compare", iconOnly: true, kind: "quiet",
    });
    store.subscribe((state) => state.view.shown.length, (count) => (beside.hidden = count < 2));
    const every = el("input", { class: "every", attrs: { type: "number", min: 1, max: 1000, "aria-label": "Frames between ghosts" } });
    every.title = "Frames between ghosts";
    every.addEventListener("change", () => {
      const frames = Math.round(every.valueAsNumber);
      if (frames >= 1 && frames <= 1000) store.setView({ ghost_every: frames });
      else every.value = String(store.state.view.ghost_every);
    });
    store.subscribe((state) => state.view.ghosts, (on) => (every.hidden = !on));
    store.subscribe((state) => state.view.ghost_every, (frames) => (every.value = String(frames)));
    return el(
      "div",
      { class: "looks", attrs: { role: "group", "aria-label": "What the stage shows" } },
      beside,
      make("follow_camera", "camera", "Camera follows the figure (F)"),
      make("ghosts", "ghosts", "Ghosts (G)"),
      every,
      make("paths", "path", "Paths (P)"),
      make("contacts", "feet", "Foot contacts (B)"),
    );
  }
}

/** Colours of the whole page at once, without each control fading on its own. */
export function bindTheme(store: Store): void {
  const { dataset } = document.documentElement;
  store.subscribe(
    (state) => state.view.theme,
    (theme) => {
      dataset.switching = "";
      dataset.theme = theme;
      requestAnimationFrame(() => requestAnimationFrame(() => delete dataset.switching));
    },
  );
}

/** What was said last, for a while; errors and a lost connection until they are over. */
function status(store: Store): HTMLElement {
  const element = el("div", { class: "status", data: { kind: "gone" }, attrs: { role: "status", "aria-live": "polite" } });
  let timer = 0;
  const show = () => {
    window.clearTimeout(timer);
    const { connection, status: said } = store.state;
    if (connection === "outdated") {
      element.dataset.kind = "error";
      fill(element, "Choreograph was upgraded under this page.", button("Reload", () => location.reload()));
    } else if (connection === "lost") {
      element.dataset.kind = "error";
      fill(element, "The server does not answer; trying again. Is `choreograph studio` still running?");
    } else {
      element.dataset.kind = said.text ? said.kind : "gone";
      fill(element, said.text, said.kind === "error" && button("Dismiss", () => store.say(""), { icon: "close", iconOnly: true, kind: "quiet" }));
      if (said.kind !== "error") timer = window.setTimeout(() => (element.dataset.kind = "gone"), STATUS_MS);
    }
  };
  store.subscribe((state) => state.status, show);
  store.subscribe((state) => state.connection, show);
  return element;
}
