/** Names that tell results apart: where several are called the same, each also says what differs in its request. */

import type { Plain, Result } from "./messages";

/** What a name is made of. */
export type Named = Pick<Result, "id" | "verb" | "name" | "request" | "subject" | "answer">;

/** Differences that a name says at most; more are for the card. */
const MOST_SAID = 2;

/** Fields that say where or when something is asked for. */
const WHERE = /(^|\.)(start|end|stop|at)_[a-z]+$/;

/** How many things a list has. */
const COUNT = /^\d+ /;

/** What fields of requests and motions in them are called. */
export interface Words {
  field(name: string): string;
  /** "clip:ID" and "result:ID" as people call them; all other texts as they are. */
  motion(name: string): string;
}

/** A name for each result, the newest first as given; `given` are those that somebody chose, which stay. */
export function namesOf(
  results: readonly Named[],
  given: Readonly<Record<string, string>>,
  words: Words,
): Map<string, string> {
  const names = new Map<string, string>();
  const groups = new Map<string, Named[]>();
  for (const result of results) {
    const key = `${result.verb} ${result.name}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  for (const group of groups.values()) {
    const facts = group.map((result) => factsOf(result, words));
    const differs = (key: string) => new Set(facts.map((one) => one.get(key) ?? "")).size > 1;
    const all = [...new Set(facts.flatMap((one) => [...one.keys()]))].filter(differs);
    // Where there are more or fewer of many things, how many says enough.
    const counted = all.filter((key) => facts.some((one) => COUNT.test(one.get(key) ?? "")));
    const differing = all.filter((key) => !counted.some((list) => key.startsWith(`${list}.`)));
    differing.sort((a, b) => Number(WHERE.test(a)) - Number(WHERE.test(b))); // what is asked before where and when
    const full = group.map(({ name }, k) => {
      const said = differing.map((key) => facts[k]!.get(key) ?? "").filter((text) => text !== "");
      return [name, ...said.slice(0, MOST_SAID), ...(said.length > MOST_SAID ? ["…"] : [])].join(" · ");
    });
    group.forEach(({ id }, k) => {
      // The same words still: by number, the oldest is the first.
      const alike = full.flatMap((text, other) => (text === full[k] ? [other] : []));
      const place = alike.length - alike.indexOf(k);
      names.set(id, given[id] ?? (alike.length > 1 && place > 1 ? `${full[k]!} (${place})` : full[k]!));
    });
  }
  return names;
}

/** What can be said of a result in a few words, by what it is about. */
function factsOf({ request, answer }: Named, words: Words): Map<string, string> {
  const facts = new Map<string, string>();
  collect(request, "", facts, words);
  if (answer > 1) facts.set("answer", `answer ${answer}`);
  return facts;
}

function collect(value: Plain | undefined, path: string, facts: Map<string, string>, words: Words): void {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return;
  const name = words.field(path.split(".").at(-1)!).toLowerCase();
  if (Array.isArray(value)) {
    // Lists of words are said, lists of numbers are drawn; of lists of things, each thing.
    if (value.every((one) => typeof one === "string")) return void facts.set(path, `${name} ${value.map(words.motion).join(", ")}`);
    if (value.some((one) => typeof one === "number" || Array.isArray(one))) return;
    if (value.length > MOST_SAID) facts.set(path, `${value.length} ${name}`);
    value.forEach((one, k) => collect(one, `${path}.${k}`, facts, words));
  } else if (typeof value === "object") {
    for (const [key, one] of Object.entries(value)) {
      if (key !== "after") collect(one, path ? `${path}.${key}` : key, facts, words);
    }
  } else if (typeof value === "boolean") facts.set(path, value ? name : `no ${name}`);
  else facts.set(path, `${/^\d+$/.test(name) ? `frame ${name} at` : name} ${words.motion(String(value))}`);
}
