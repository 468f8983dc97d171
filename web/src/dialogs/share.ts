/** Links that ask for the same motion again, and the command and program that do. */

import { button, dialog, el } from "../dom";
import type { Code, JobAsk, Plain, Result } from "../messages";
import type { Context } from "../types";

interface Shared {
  verb: string;
  ask: Record<string, Plain>;
}

/** A link to this page that asks for the same. */
export function linkOf(result: Result): string {
  const shared: Shared = { verb: result.verb, ask: result.request };
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `${location.origin}${location.pathname}#ask=${
    text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")
  }`;
}

function readLink(hash: string): Shared | null {
  const text = /^#ask=([\w-]+)$/.exec(hash)?.[1];
  if (!text) return null;
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Shared;
}

/** If the page was opened by such a link, ask for what it says; as one step that can be undone. */
export function followLinks({ store }: Context): void {
  const open = () => {
    if (!location.hash.startsWith("#ask=")) return;
    const hash = location.hash;
    history.replaceState(null, "", location.pathname + location.search);
    let shared: Shared | null = null;
    try {
      shared = readLink(hash);
    } catch {
      // cut short on its way here
    }
    if (shared === null || !store.state.verbs.some(({ name }) => name === shared.verb)) {
      store.say("The link does not say what to ask for; copy it again, whole.", "error");
      return;
    }
    const { verb, ask } = shared;
    store.setView({ verb });
    void store.change("Open a link", ({ requests }) => (requests[verb] = ask));
  };
  window.addEventListener("hashchange", open);
  open();
}

export async function copy({ store }: Context, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    store.say(`Copied ${what}.`, "done");
  } catch {
    store.say(`The browser did not let ${what} be copied; select the text instead.`, "error");
  }
}

/** Show how the same is done from the command line and from Python. */
export function openCode(context: Context, shown: Code & { name: string }): void {
  const block = (title: string, what: string, text: string) =>
    el(
      "section",
      { class: "code" },
      el(
        "header",
        {},
        el("h2", {}, title),
        button(`Copy ${what}`, () => void copy(context, text, what), { icon: "copy" }),
      ),
      el("pre", { attrs: { tabindex: 0, "aria-label": title } }, text),
    );
  dialog(
    `The same without the studio: ${shown.name}`,
    block("Command", "the command", shown.command),
    block("Python", "the Python program", shown.python),
  );
}

/** The button that shows it for a build or an export, as that is asked for when it is pressed. */
export function codeButton(context: Context, name: () => string, ask: () => JobAsk): HTMLButtonElement {
  const show = async () => {
    try {
      openCode(context, { name: name(), ...(await context.api.send<Code>("POST", "/api/code", ask())) });
    } catch (error) {
      context.store.say((error as Error).message, "error");
    }
  };
  return button("Show the command and the Python", () => void show(), { icon: "code", iconOnly: true, kind: "quiet" });
}
