/** Where the page begins: fetch the project, put its parts together, and let the stage show what the view says. */

import { Server } from "./api";
import { mountDrop } from "./dialogs/drop";
import { openExport } from "./dialogs/export";
import { openHelp } from "./dialogs/help";
import { button, el } from "./dom";
import { listen, makeKeys } from "./keys";
import { PROTOCOL } from "./messages";
import type { Project, VerbFacts } from "./messages";
import { panelsOf } from "./panels";
import { mountResults } from "./results";
import { bindTheme, makeShell, Shell } from "./shell";
import { FACE, type Wanted, wantedMotions } from "./shown";
import { WebStage } from "./stage/stage";
import { ProjectStore } from "./store";
import { StageTimeline } from "./timeline/timeline";
import type { Context, Stage, State, Store } from "./types";

declare global {
  interface Window {
    /** For tests and consoles. */
    choreograph?: { store: Store; stage: Stage; /** What panels show of themselves. */ parts: Record<string, unknown> };
  }
}

/** Time after which the page listens to the server, whatever it shows by then. */
const BEGIN_MS = 3000;

async function start(): Promise<void> {
  const app = document.getElementById("app")!;
  const server = new Server();
  const [project, verbs] = await Promise.all([
    server.get<Project>("/api/project"),
    server.get<VerbFacts[]>("/api/verbs"),
  ]);
  if (project.protocol !== PROTOCOL) throw new Error("This page is older than the server; reload it past the browser's cache.");
  const store = new ProjectStore(server, project, verbs);
  bindTheme(store); // before all that reads colours

  for (const motion of firstMotions(store.state)) prefetch(server, motion);

  const parts = makeShell();
  app.replaceChildren(parts.element);
  const stage = new WebStage(parts.stageParent, server, {
    onLeave: () => store.setView({ follow_camera: false }),
    onTrouble: (message) => store.say(message, "error"),
  });
  const timeline = new StageTimeline(stage, store);
  parts.element.append(timeline.element);

  let shell: Shell | null = null; // panels may speak up while it is being made
  const context: Context = {
    store,
    api: server,
    stage,
    timeline,
    results: parts.right,
    refreshHint: () => shell?.refreshHint(),
    openExport: (motion) => openExport(context, motion),
    openHelp: () => openHelp(keys, `Choreograph ${project.package} · ${project.folder}`),
  };
  window.choreograph = { store, stage, parts: {} };
  store.subscribe((state) => state.view, (view) => stage.setView(view));
  mountResults(parts.right, context);
  shell = new Shell(parts, context, panelsOf(verbs));
  const keys = makeKeys(context, shell);
  listen(keys);
  mountDrop(context);
  bindStage(store, stage, server, () => server.connect());
}

/** What is shown first. Of an archive nothing is described yet, but it is known what that will be. */
function firstMotions(state: State): { id: string; skeleton: string }[] {
  const { archive, view } = state;
  if (archive && view.shown.length === 0 && state.results.length === 0) return [{ id: `clip:${archive.first}`, skeleton: archive.skeleton }];
  return wantedMotions(state);
}

/** Under way while the stage is still being set up; what fails here is told when it is needed. */
function prefetch(server: Server, { id, skeleton }: { id: string; skeleton: string }): void {
  const needed: Promise<unknown>[] = [server.frames(id), ...(skeleton === FACE ? [] : [server.figure(skeleton)])];
  for (const coming of needed) coming.catch(() => undefined);
}

/** The stage shows what is wanted of it.
    `begun` is called once it shows that, or there is nothing to show: what the server makes ready then can wait. */
function bindStage(store: Store, stage: Stage, server: Server, begun: () => void): void {
  store.subscribe((state) => state.view.character, (character) => (server.character = character));
  let first = true;
  const begin = once(begun);
  window.setTimeout(begin, BEGIN_MS);
  let contents = new Map<string, string>();
  const show = async (motions: Wanted[]) => {
    const ids = motions.map(({ id }) => id);
    const now = new Map(motions.map((motion) => [motion.id, content(motion)]));
    const changed = ids.some((id) => contents.has(id) && contents.get(id) !== now.get(id));
    contents = now;
    document.body.dataset.state = "loading";
    try {
      // Whoever asked for a motion may have begun to show it, and knows better when it is to begin.
      await (String(ids) === String(stage.wanted) && !changed ? stage.loaded : stage.show(ids));
      if (first && ids.length > 0) stage.player.play();
      if (ids.length > 0) first = false;
      document.body.dataset.state = "ready";
    } catch (error) {
      document.body.dataset.state = "error";
      store.say((error as Error).message, "error");
    }
    // Drawn, not only loaded; the first clip of an archive is still to be described.
    if (ids.length > 0 || !store.state.archive) requestAnimationFrame(() => requestAnimationFrame(begin));
  };
  // Described by id and content, so that a clip that was trimmed is shown anew and one that was relabelled is not.
  const wanted = (state: State) => wantedMotions(state).map((motion) => `${motion.id}|${content(motion)}`).join("\n");
  store.subscribe(wanted, (_, state) => void show(wantedMotions(state)));
}

function once(fn: () => void): () => void {
  let done = false;
  return () => {
    if (!done) fn();
    done = true;
  };
}

/** Says whether a motion of the same name is another one. */
const content = ({ frames, mark }: Wanted): string => `${frames}|${mark}`;

function fail(error: unknown): void {
  document.body.dataset.state = "error";
  const said = error instanceof Error ? error.message : String(error);
  const why = /webgl/i.test(said) ? "This browser shows no 3-D: the studio needs WebGL 2. Turn on hardware acceleration, or try another browser." : said;
  document.getElementById("app")!.replaceChildren(
    el("div", { class: "fatal", attrs: { role: "alert" } }, el("p", {}, why), button("Try again", () => location.reload(), { kind: "primary" })),
  );
}

start().catch(fail);
