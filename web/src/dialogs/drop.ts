/** Motion files dropped anywhere on the window, or picked: whole folders too. */

import { showRoles } from "./roles";
import { el } from "../dom";
import type { Job } from "../messages";
import { underWay } from "../panels/progress";
import type { Context } from "../types";

/** Who is asked first whether a file is for them: panels, for requests and drawings. */
export const takers = new Set<(file: File) => boolean>();

export function mountDrop(context: Context): void {
  const kinds = context.store.state.readable.join(" ");
  const veil = el(
    "div",
    { class: "drop-veil", hidden: true },
    el("p", {}, "Drop to add to the library"),
    el("p", { class: "quiet-text" }, kinds),
  );
  document.body.append(veil);
  const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  window.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  window.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) veil.hidden = true; // out of the window, not onto another element
  });
  window.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    veil.hidden = true;
    void droppedFiles(event.dataTransfer!).then((files) => addFiles(context, files));
  });
}

/** Files that may hold a character. */
export const CHARACTERS = [".glb", ".vrm", ".fbx"];

/** Show a character instead of the mannequin; whether the file has motion to add, too. */
export async function takeCharacter(context: Context, file: File, asked: boolean): Promise<"taken" | "motion" | "other"> {
  const { store, api } = context;
  try {
    store.say(`Reading ${file.name} …`);
    const found = await api.takeCharacter(file);
    if (!found.own && !asked) return "other";
    if (found.missing.length > 0) {
      store.say(`${found.name} cannot walk yet: ${found.missing.join(", ")} not found among its joints.`, "error");
      showRoles(context, found);
      return "taken";
    }
    store.setView({ character: found.id, character_name: found.name });
    store.say(`${found.name} is on the stage and in exports.`);
    return found.animated ? "motion" : "taken";
  } catch (error) {
    if (asked || file.name.toLowerCase().endsWith(".vrm")) store.say((error as Error).message, "error");
    return "other";
  }
}

/** Send what can be read to the server; the clips come back as a change of the document. */
export async function addFiles(context: Context, files: readonly File[]): Promise<void> {
  const { store, api } = context;
  const one = files.length === 1 ? files[0]! : null;
  if (one && [...takers].some((takes) => takes(one))) return;
  if (one && CHARACTERS.some((suffix) => one.name.toLowerCase().endsWith(suffix))) {
    if ((await takeCharacter(context, one, false)) === "taken" || one.name.toLowerCase().endsWith(".vrm")) return;
  }
  const readable = files.filter((file) =>
    store.state.readable.some((suffix) => file.name.toLowerCase().endsWith(suffix))
  );
  const left = files.length - readable.length;
  if (readable.length === 0) {
    const what = files.length === 1 ? `“${files[0]!.name}” is` : `None of these ${files.length} files is`;
    store.say(
      files.length > 0
        ? `${what} no motion file; ${store.state.readable.join(", ")} can be read.`
        : "There was no file in what was dropped.",
      "error",
    );
    return;
  }
  store.setView({ verb: "library" });
  const count = readable.length === 1 ? readable[0]!.name : `${readable.length} files`;
  const aside = left > 0 ? `; ${left} other file${left > 1 ? "s" : ""} left out` : "";
  try {
    store.say(`Sending ${count}${aside} …`);
    const job = await api.upload([...readable], (share) => store.say(`Sending ${count}: ${Math.round(100 * share)} %${aside}`));
    store.say(`Reading ${count}${aside} …`);
    tellEnd(context, job, aside);
  } catch (error) {
    store.say((error as Error).message, "error");
  }
}

/** Say what came of reading, once that is known; why a file is left out stands in the library. */
function tellEnd({ store }: Context, { id }: Job, aside: string): void {
  const stop = store.subscribe(
    (state) => state.jobs.find((job) => job.id === id && !underWay(job)),
    (job) => {
      if (!job) return;
      window.setTimeout(() => stop()); // it may be over before this is known
      const added = job.results.length;
      if (job.state !== "done") store.say("");
      else if (added > 0) store.say(`Added ${added} clip${added > 1 ? "s" : ""}${aside}.`, "done");
      else store.say(`Nothing new: the library has ${job.error ? "the rest" : "all of that"} already${aside}.`, "done");
    },
  );
}

/** All files in what was dropped, folders opened. */
async function droppedFiles(data: DataTransfer): Promise<File[]> {
  // Entries must be taken before the first wait: the list is emptied when the event is over.
  const items = [...data.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  const plain = items.map((item) => item.getAsFile());
  const found = await Promise.all(entries.map((entry, k) => (entry ? inside(entry) : plain[k] ? [plain[k]] : [])));
  return found.flat();
}

async function inside(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) {
    return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const files: File[] = [];
  for (;;) {
    // A folder is handed out in parts, the last of which is empty.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return files;
    for (const child of some) files.push(...(await inside(child)));
  }
}
