/** The page's state: the project as the server has it, changes shown before it confirms them, and who wants to know. */

import type { Server } from "./api";
import type { ProjectDocument, DocumentState, Job, Motion, Project, Result, VerbFacts, View } from "./messages";
import { ApiError, type ChangeOptions, type State, type Status, type Store } from "./types";

const VIEW_SETTLE_MS = 300;
/** When to try again what did not arrive though the connection is there. */
const RETRY_MS = 2000;
/** Clips of an archive that stay described. */
const ARCHIVE_KEPT = 40;

interface Change {
  label: string;
  edits: ((document: ProjectDocument) => void)[];
  done: Promise<void>;
  send: () => void;
}

export class ProjectStore implements Store {
  private held: State;
  private readonly watchers = new Set<() => void>();
  /** What the server has; `held.document` may be ahead of it. */
  private confirmed: ProjectDocument;
  private readonly queue: Change[] = [];
  private settling: Change | null = null;
  private sending: Promise<void> = Promise.resolve();
  private viewTimer = 0;
  /** Results that better ones may still take the place of, by verb. */
  private readonly unfinished = new Map<string, string[]>();
  /** Settles when the change that is under way, if any, is answered. */
  private answered: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly server: Server,
    project: Project,
    verbs: readonly VerbFacts[],
  ) {
    this.held = { ...project, verbs, connection: "connecting", unsaved: 0, status: { text: "", kind: "quiet" } };
    this.confirmed = project.document;
    this.know();
    server.lookup = (id) => this.motion(id);
    // Told to all pages, so to the one that made the change as well, and perhaps before its own answer.
    server.on("document", (message) => void this.answered.then(() => this.confirm(message.state)));
    server.on("library", (message) => this.set({ recordings: message.recordings }));
    server.on("graph", (message) => this.set({ graph: message.graph }));
    server.on("results", (message) => this.set({ results: message.results }));
    server.on("answer", (message) => {
      const kept = this.held.document.kept;
      const beaten = (this.unfinished.get(message.verb) ?? []).filter((id) => !kept.includes(id));
      this.unfinished.set(message.verb, message.final ? [] : message.results.map((result) => result.id));
      this.set({ results: merge(this.held.results.filter((result) => !beaten.includes(result.id)), message.results) });
    });
    server.on("job", (message) => this.set({ jobs: mergeJob(this.held.jobs, message.job) }));
    server.on("trouble", (message) => this.say(message.failure.error, "error"));
    window.addEventListener("pagehide", () => this.flush());
    server.onConnection = (connection) => {
      if (connection !== "connecting" || this.held.connection !== "lost") this.set({ connection });
      // What happened while nobody listened was not heard: since the line was lost, or since the project was read.
      if (connection === "live") {
        void this.reload().catch((error: Error) => this.say(error.message, "error"));
        for (const go of this.waiting.splice(0)) go();
      }
    };
  }

  /** Those who wait for the server to answer again. */
  private readonly waiting: (() => void)[] = [];

  private connected(): Promise<void> {
    return new Promise((go) => {
      this.waiting.push(go);
      // Where the socket lives on, only that one request was lost.
      window.setTimeout(() => this.held.connection === "live" && go(), RETRY_MS);
    });
  }

  get state(): State {
    return this.held;
  }

  subscribe<T>(selector: (state: State) => T, fn: (value: T, state: State) => void): () => void {
    let last = selector(this.held);
    const watcher = () => {
      const value = selector(this.held);
      if (Object.is(value, last)) return;
      last = value;
      fn(value, this.held);
    };
    this.watchers.add(watcher);
    fn(last, this.held);
    return () => this.watchers.delete(watcher);
  }

  say(text: string, kind: Status["kind"] = "quiet"): void {
    this.set({ status: { text, kind } });
  }

  setView(view: Partial<View>): void {
    this.set({ view: { ...this.held.view, ...view } });
    this.know();
    window.clearTimeout(this.viewTimer);
    this.viewTimer = window.setTimeout(() => this.sendView(), VIEW_SETTLE_MS);
  }

  private sendView(): void {
    window.clearTimeout(this.viewTimer);
    this.viewTimer = 0;
    this.server.send("PUT", "/api/view", this.held.view).catch((error: Error) => this.say(error.message, "error"));
  }

  /** Send what is still waiting for more: the page is going away. */
  private flush(): void {
    if (this.viewTimer) this.sendView();
    this.settling?.send();
  }

  // -------------------------------------------------------------- the document

  change(label: string, edit: (document: ProjectDocument) => void, options: ChangeOptions = {}): Promise<void> {
    const open = this.settling;
    if (open && open.label === label && options.settle) {
      open.edits.push(edit);
    } else {
      this.settling?.send();
      this.queue.push((this.settling = this.open(label, edit)));
    }
    const change = this.settling!;
    this.show();
    this.rearm(change, options.settle ?? 0);
    return change.done;
  }

  private settleTimer = 0;

  private rearm(change: Change, settle: number): void {
    window.clearTimeout(this.settleTimer);
    if (settle > 0) this.settleTimer = window.setTimeout(change.send, settle);
    else change.send();
  }

  private open(label: string, edit: (document: ProjectDocument) => void): Change {
    let send!: () => void;
    const settled = new Promise<void>((resolve) => (send = resolve));
    const change: Change = { label, edits: [edit], send, done: Promise.resolve() };
    change.send = () => {
      if (this.settling === change) this.settling = null;
      send();
    };
    this.sending = change.done = Promise.all([settled, this.sending]).then(() => this.deliver(change));
    return change;
  }

  /** Send a change; where another page was faster, do it again on the document that it made. */
  private async deliver(change: Change): Promise<void> {
    try {
      for (let attempt = 0; ; attempt++) {
        const document = apply(this.confirmed, [change]);
        const body = { base: this.held.version, label: change.label, document };
        try {
          const sent = this.server.send<DocumentState>("PUT", "/api/document", body);
          this.answered = sent.catch(() => undefined);
          const state = await sent;
          this.queue.splice(this.queue.indexOf(change), 1);
          this.confirm(state);
          return;
        } catch (error) {
          if (!(error instanceof ApiError) || (error.status !== 0 && error.status !== 409) || attempt === 3) throw error;
          if (error.status === 0) {
            // Nobody answers: what was changed stays, and is told once somebody does.
            await this.connected();
            attempt = 0;
          }
          await this.reload();
        }
      }
    } catch (error) {
      this.queue.splice(this.queue.indexOf(change), 1);
      this.show();
      this.say((error as Error).message, "error");
    }
  }

  async undo(): Promise<void> {
    await this.travel("undo", this.held.undo);
  }

  async redo(): Promise<void> {
    await this.travel("redo", this.held.redo);
  }

  private async travel(way: "undo" | "redo", name: string | null): Promise<void> {
    this.settling?.send();
    await this.sending;
    if (name === null && this.held[way] === null) return;
    try {
      this.confirm(await this.server.send<DocumentState>("POST", `/api/${way}`));
      this.say(`${way === "undo" ? "Undid" : "Redid"} “${name ?? ""}”`, "done");
    } catch (error) {
      this.say((error as Error).message, "error");
    }
  }

  /** Take what the server says now, and put unsent changes on top. */
  async reload(): Promise<void> {
    const project = await this.server.get<Project>("/api/project");
    this.confirmed = project.document;
    this.set({ ...project, view: this.held.view, clips: this.withArchive(project.clips) });
    this.show();
  }

  private confirm(state: DocumentState): void {
    if (state.version < this.held.version) return; // overtaken by a newer one
    for (const clip of state.document.clips) {
      const before = this.confirmed.clips.find((known) => known.id === clip.id);
      if (before && (before.mirrored !== clip.mirrored || String(before.trim) !== String(clip.trim))) {
        this.server.forget(`clip:${clip.id}`);
      }
    }
    this.confirmed = state.document;
    const { version, undo, redo, graph } = state;
    this.set({ version, undo, redo, graph, clips: state.clips ? this.withArchive(state.clips) : this.held.clips });
    this.show();
  }

  private show(): void {
    const document = sharing(this.held.document, apply(this.confirmed, this.queue));
    this.set({ document, unsaved: this.queue.length });
  }

  /** Motions of an archive are described when they are shown: there are too many to be told at the start. */
  private know(): void {
    const { archive, view, clips } = this.held;
    if (!archive) return;
    const wanted = [...view.shown.filter((id) => id.startsWith("clip:")), `clip:${archive.first}`];
    for (const id of wanted.filter((one) => !clips.some((known) => known.id === one))) {
      if (this.coming.has(id)) continue;
      this.coming.add(id);
      const [kind, name] = id.split(":");
      this.server.get<Motion>(`/api/motions/${kind}/${name}`).then(
        (motion) => {
          this.coming.delete(id);
          this.set({ clips: this.withArchive(this.held.clips, motion) });
        },
        (error: Error) => {
          this.coming.delete(id);
          this.say(error.message, "error");
        },
      );
    }
  }

  private readonly coming = new Set<string>();

  /** The document's clips as the server says, and of the archive those that were shown lately. */
  private withArchive(clips: Motion[], ...more: Motion[]): Motion[] {
    if (!this.held.archive) return clips;
    const own = new Set([...clips, ...more].map(({ id }) => id));
    const others = this.held.clips.filter(({ id }) => !own.has(id) && !this.confirmed.clips.some((entry) => `clip:${entry.id}` === id));
    return [...clips, ...others.slice(-ARCHIVE_KEPT), ...more];
  }

  private motion(id: string): Motion | null {
    const among = (motions: Motion[]) => motions.find((motion) => motion.id === id) ?? null;
    if (id.startsWith("clip:")) return among(this.held.clips);
    for (const result of this.held.results) {
      const found = among(result.motions);
      if (found) return found;
    }
    return null;
  }

  private set(change: Partial<State>): void {
    this.held = { ...this.held, ...change };
    for (const watcher of [...this.watchers]) watcher();
  }
}

function apply(document: ProjectDocument, changes: readonly Change[]): ProjectDocument {
  if (changes.length === 0) return document;
  const copy = structuredClone(document);
  for (const change of changes) for (const edit of change.edits) edit(copy);
  return copy;
}

/** `after`, with every part of it that says the same as before being the same: who watches a part hears real changes. */
function sharing<T extends object>(before: T, after: T): T {
  const shared = { ...after };
  let changed = false;
  for (const key of Object.keys(after) as (keyof T)[]) {
    if (JSON.stringify(before[key]) === JSON.stringify(after[key])) shared[key] = before[key];
    else changed = true;
  }
  return changed ? shared : before;
}

/** Newest first, as the server lists them. */
function merge(known: Result[], fresh: Result[]): Result[] {
  const ids = new Set(fresh.map((result) => result.id));
  return [...fresh, ...known.filter((result) => !ids.has(result.id))];
}

function mergeJob(jobs: Job[], job: Job): Job[] {
  const index = jobs.findIndex((known) => known.id === job.id);
  return index < 0 ? [...jobs, job] : jobs.with(index, job);
}
