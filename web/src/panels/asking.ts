/** Asking for motion and showing what comes, for panels whose every change is a new request. */

import type { Failure, Plain, Result } from "../messages";
import type { Context } from "../types";

export interface AskHooks {
  /** Whether something is being searched for. */
  busy(searching: boolean): void;
  /** Whether it is said beside the field that it is about. */
  refused(failure: Failure): boolean;
  answered(results: readonly Result[]): void;
}

export interface Asker {
  /** Ask; newer requests replace older ones. `fresh` motion plays from its start, else the time stays. Results of a
      `passing` request are replaced by those of the next. */
  ask(request: object, fresh?: boolean, passing?: boolean): void;
  /** Show earlier answers to this very request about the same motion, if there are any. */
  recall(request: object): boolean;
  /** Whether an answer is on the stage, or something else. */
  isShown(): boolean;
  /** Take back what was said of a request that was refused: it is over, or nobody looks at it any more. */
  hush(): void;
}

/** What arrives before the answer: its beginning, or whole motions that are bettered until it is there. */
export type Partials = "beginning" | "whole";

export function asker(context: Context, verb: string, hooks: AskHooks, partials: Partials = "beginning"): Asker {
  const { store, api, stage } = context;
  let number = 0;
  let isFresh = true;
  /** Which of the answers is looked at: better ones take its place. */
  let rank = 0;

  const onStage = () => store.state.view.verb === verb;
  const subject = () => store.state.document.subjects[verb] ?? null;
  let latest: readonly Result[] = [];
  /** Why the last request was refused, as long as that may be read. */
  let complaint = "";
  const hush = () => {
    if (complaint && store.state.status.text === complaint) store.say("");
    complaint = "";
  };
  const show = (results: readonly Result[]) => {
    const result = results[Math.min(rank, results.length - 1)];
    // Whoever has gone on to another panel meanwhile finds it on coming back.
    if (!result || !onStage()) return;
    const motions = result.motions.map((motion) => motion.id);
    // Before the view's own showing, which leaves it at this: here is known when it is to begin.
    void stage.show(motions, isFresh && partials !== "whole" ? {} : { from: "same" }).catch((error: Error) => {
      if (latest === results) store.say(error.message, "error"); // what was bettered meanwhile is nobody's trouble
    });
    store.setView({ shown: motions.slice(0, 1) });
    if (isFresh) stage.player.play();
  };
  const take = (results: readonly Result[]) => {
    const [shown] = store.state.view.shown;
    const seen = latest.findIndex((result) => result.motions[0]?.id === shown);
    rank = Math.max(0, seen);
    latest = results;
    hooks.answered(results);
    show(results);
  };
  api.on("partial", (message, frames) => {
    // What arrives begins at 0; after an edit the old motion plays on instead, until the whole new one is there.
    if (message.number !== number || !frames || !onStage()) return;
    if (partials === "whole") stage.preview(message.motion, frames);
    else if (isFresh) {
      stage.stream(number, message.motion, message.start, frames);
    }
  });
  api.on("answer", (message) => {
    if (message.number !== number || message.results.length === 0) return;
    hooks.busy(!message.final);
    take(message.results);
    isFresh = false; // better answers to the same request do not start it anew
  });
  api.on("refused", (message) => {
    if (message.number !== number) return;
    // What was shown on the way to nothing goes.
    if (partials === "whole" && onStage()) void stage.show(store.state.view.shown, { from: "same" }).catch(() => undefined);
    hooks.busy(false);
    const isBeside = hooks.refused(message.failure);
    const { error } = message.failure;
    complaint = isBeside ? error.split("; ")[0]! : error; // what there is to be chosen from stands beside the field
    store.say(complaint, "error");
  });
  return {
    hush,
    ask(request, fresh = false, passing = false) {
      hush();
      isFresh = fresh || stage.shown.length === 0;
      latest = isFresh ? [] : latest;
      hooks.busy(true);
      number = api.ask(verb, request as Record<string, Plain>, { subject: subject(), passing });
    },
    recall(request) {
      const about = subject();
      const known = store.state.results.filter(
        (result) => !result.passing && (about === null || result.subject === about),
      );
      const found = answersTo(known, verb, request);
      if (found.length === 0) return false;
      [number, isFresh] = [0, false];
      hush();
      hooks.busy(false);
      take(found);
      return true;
    },
    isShown() {
      const [shown] = store.state.view.shown;
      return store.state.results.some((result) => result.verb === verb && result.motions.some(({ id }) => id === shown));
    },
  };
}

/** The answers to a request that are there, the best first: those that were found together last. */
export function answersTo(results: readonly Result[], verb: string, request: unknown): Result[] {
  const key = canonical(request);
  const found = new Map<number, Result>();
  // The newest come first.
  for (const result of results) {
    if (result.verb === verb && canonical(result.request) === key && !found.has(result.answer)) {
      found.set(result.answer, result);
    }
  }
  return [...found.values()].sort((a, b) => a.answer - b.answer);
}

/** The same text for the same request, whatever the order of its names. */
export function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_, part: unknown) =>
      part !== null && typeof part === "object" && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
  );
}
