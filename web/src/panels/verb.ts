/** What the panels of all verbs share: the request in the document, its form, asking, and problems in red.
    A verb without a panel file of its own is this and nothing else. */

import { RED } from "../colours";
import { button, el, fill, icon, section } from "../dom";
import type { Failure, Plain, Problem, Result, VerbFacts } from "../messages";
import type { Context, Overlay, Panel, PanelHandle, State, Store } from "../types";
import { isListed, shownIds } from "../shown";
import { clipNames } from "./clips";
import { asker, type Asker, canonical, type Partials } from "./asking";
import { type Form, type FormOptions, requestForm } from "./form";
import { buildOffer } from "./library";
import { bySeverity, missedOf } from "./problems";
import { jobStrip } from "./progress";
import type { Schema } from "./schema";
import { motionChoices, subjectChooser } from "./subject";
import { watch } from "./watch";
import "../panels.css";

export interface Edit {
  /** Milliseconds to wait for more of the same. */
  settle?: number;
  /** Whether the motion that comes plays from its start. */
  fresh?: boolean;
}

export class VerbPanel<R extends object> implements PanelHandle {
  readonly element = el("div", { class: "verb" });
  protected readonly form: Form;
  protected readonly asker: Asker;
  protected readonly facts = el("p", { class: "quiet-text figures", attrs: { "aria-live": "polite" } });
  protected readonly problems = el("ul", { class: "told", attrs: { "aria-live": "polite" } });
  protected visible = false;
  /** The request that was last asked or shown. */
  protected asked = "";
  protected results: readonly Result[] = [];
  private failure: Failure | null = null;
  /** What the latest request was about. */
  private workedOn: string | null = null;
  private marks: Overlay[] = [];
  private timer = 0;

  constructor(
    protected readonly context: Context,
    readonly verb: VerbFacts,
    options: FormOptions = {},
    /** What a request says before anybody says anything. */
    private readonly initial: Partial<R> = {},
    partials: Partials = "beginning",
  ) {
    const { store } = context;
    this.form = requestForm(
      verb.request as Schema,
      { edit: (label, change, settle) => this.edit(label, (request) => change(request as Record<string, Plain>), { settle: settle ?? 0 }) },
      { ...options, choices: { ...choices(store, verb.subject), ...options.choices }, motions: () => motionChoices(store.state, "") },
    );
    this.asker = asker(context, verb.name, {
      busy: (searching) => {
        this.element.dataset["busy"] = String(searching);
        if (searching) this.fail(null);
      },
      refused: (failure) => this.fail(failure),
      answered: (results) => {
        this.results = results;
        this.fail(null);
      },
    }, partials);
    watch(
      store,
      [
        (state) => state.document.requests[verb.name],
        (state) => state.document.subjects[verb.name],
        (state) => state.graph?.labels,
        (state) => state.document.clips.map((clip) => clip.name),
      ],
      (state) => this.update(state),
    );
    watch(store, [(state) => clipNames(state, verb.subject), (state) => state.document.names, (state) => state.results.map(({ id }) => id)], () => this.form.set(this.request));
    watch(store, [shownIds, (state) => state.results.map(({ id, problems, metrics }) => [id, problems, metrics])], (state) =>
      this.showResult(state),
    );
    if (verb.subject === "graph") {
      watch(store, [(state) => state.graph?.built_from], () => this.visible && this.askIfNew(true));
    }
  }

  // -------------------------------------------------------------- the request

  get request(): R {
    return (this.context.store.state.document.requests[this.verb.name] ?? this.initial) as R;
  }

  /** Change the request, and ask for what it says then. */
  protected edit(label: string, change: (request: R) => void, { settle = 0, fresh = false }: Edit = {}): void {
    void this.context.store.change(
      label,
      ({ requests }) => change((requests[this.verb.name] ??= structuredClone(this.initial) as Record<string, Plain>) as R),
      settle ? { settle } : {},
    );
    this.asked = canonical(this.key()); // soon: whoever shows the change need not ask for it too
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.askNow(fresh), settle);
  }

  /** Whether there is enough to ask for. */
  protected ready(_: R): boolean {
    return true;
  }

  protected hasSubject(state: State): boolean {
    if (this.verb.subject === "graph") return state.graph !== null;
    if (this.verb.subject === "clip") return this.verb.name in state.document.subjects;
    return state.document.clips.length > 0 || state.archive !== null;
  }

  protected askNow(fresh = false): void {
    window.clearTimeout(this.timer);
    this.asked = canonical(this.key());
    this.workedOn = this.subjectNow();
    if (this.ready(this.request) && this.hasSubject(this.context.store.state)) this.asker.ask(this.request, fresh);
    else {
      this.asker.hush();
      this.fail(null);
    }
  }

  /** After undo, a reload or a link: show the answer that is known, or ask for it. */
  protected askIfNew(fresh: boolean): void {
    const key = canonical(this.key());
    if (!this.ready(this.request) || !this.hasSubject(this.context.store.state)) {
      this.asked = ""; // whatever is asked for next is new
      return;
    }
    if (key === this.asked) return;
    this.asked = key;
    // Another graph, or other clips: earlier answers are answers no more.
    const [before, now] = [this.workedOn, this.subjectNow()];
    this.workedOn = now;
    const stands = before === null || before === now;
    if ((!stands || !this.asker.recall(this.request)) && this.asksByItself()) this.asker.ask(this.request, fresh);
  }

  /** Whether looking at the panel is enough to ask. */
  protected asksByItself(): boolean {
    return true;
  }

  /** What the request is about, as long as that is the same. */
  private subjectNow(): string {
    const { graph, document } = this.context.store.state;
    if (this.verb.subject === "graph") return graph?.built_from ?? "";
    return this.verb.subject === "clip" ? (document.subjects[this.verb.name] ?? "") : canonical(document.clips);
  }

  private key(): unknown {
    return [this.request, this.subjectNow()];
  }

  /** A button that asks; of no use before there is something to ask about. */
  protected askButton(label: string, title = ""): HTMLButtonElement {
    const made = button(label, () => this.askNow(true), { kind: "primary", title });
    made.disabled = true; // until that is known
    watch(this.context.store, [(state) => this.hasSubject(state)], (state) => (made.disabled = !this.hasSubject(state)));
    return made;
  }

  // -------------------------------------------------------------- what is there

  hint(): string {
    return this.verb.summary;
  }

  onShow(): void {
    this.visible = true;
    this.update(this.context.store.state);
    this.showResult(this.context.store.state);
    // Whoever looked at something else meanwhile comes back to the answer.
    if (!this.asker.isShown() && this.element.dataset["busy"] !== "true") this.asked = "";
    this.askIfNew(true);
    this.takeStage();
  }

  /** Another verb's motion, with its way and its time, is not this one's: what belongs here takes its place. */
  private takeStage(): void {
    const { state } = this.context.store;
    const { view, results, document } = state;
    const [shown] = view.shown;
    const subject = document.subjects[this.verb.name];
    const isOthers = results.some(({ verb, motions }) => verb !== this.verb.name && motions.some(({ id }) => id === shown));
    // Who has chosen nothing to change may well mean what is there.
    if (!isOthers || shown === subject || (this.verb.subject === "clip" && subject === undefined)) return;
    const own = results.find(
      (result) => result.verb === this.verb.name && isListed(state, result) && (result.subject === null || result.subject === subject),
    );
    const instead = own?.motions[0]?.id ?? (this.verb.subject === "clip" ? subject : undefined);
    this.context.store.setView({ shown: instead ? [instead] : [] });
  }

  onHide(): void {
    this.visible = false;
    this.asker.hush();
    this.clearMarks();
  }

  private update(state: State): void {
    this.form.set(this.request);
    this.show(state);
    this.context.refreshHint();
    // Undone, redone or opened from a link; a change made in another tab is answered there.
    if (this.visible && document.hasFocus()) this.askIfNew(false);
  }

  /** Show a request that may be another one. */
  protected show(_: State): void {}

  /** The result on the stage, if it is one of this verb. */
  protected resultOnStage(state: State = this.context.store.state): Result | null {
    const [first] = shownIds(state);
    const own = state.results.filter((result) => result.verb === this.verb.name);
    return own.find((result) => result.motions.some(({ id }) => id === first)) ?? null;
  }

  /** How good the motion on the stage is, and red, beside what caused it, where it is not as asked. */
  protected showResult(state: State): void {
    this.clearMarks();
    const result = this.visible ? this.resultOnStage(state) : null;
    this.facts.textContent = result ? this.sentence(result) : "";
    this.tell();
    for (const { text, place } of missedOf(result?.problems ?? [])) if (place) this.mark(place, text);
  }

  /** What is said of a result in the panel. */
  protected sentence(result: Result): string {
    const metrics = Object.values(result.metrics).map(({ text, said }) => `${text} ${said}`);
    return [...metrics, `found in ${result.total_s.toFixed(2)} s`].join("; ");
  }

  /** Whether it is said beside the field that it is about. */
  protected fail(failure: Failure | null): boolean {
    this.failure = failure;
    return this.tell();
  }

  /** Problems of the motion on the stage, and what was refused: beside their fields, else in a list. */
  private tell(): boolean {
    const result = this.visible ? this.resultOnStage() : null;
    const all: Pick<Problem, "where" | "text" | "severity">[] = [
      ...(this.failure ? [{ where: this.failure.where ?? "", text: this.failure.error, severity: "missed" as const }] : []),
      ...bySeverity(result && canonical(result.request) === canonical(this.request) ? result.problems : []),
    ];
    this.form.clear();
    const rest = all.filter(({ where, text, severity }) => severity !== "missed" || !this.tellAt(where, text));
    const isBeside = this.failure !== null && !rest.some(({ text }) => text === this.failure!.error);
    fill(
      this.problems,
      ...rest.map(({ text, severity }) =>
        el("li", { class: `problem ${severity}`, attrs: { role: severity === "note" ? "status" : "alert" } }, icon("warning"), text)
      ),
    );
    return isBeside;
  }

  /** Say it beside the thing that it is about; whether there is one. */
  protected tellAt(where: string, text: string): boolean {
    return where !== "" && this.form.fail(where, text);
  }

  protected mark(place: [number, number, number], text: string): void {
    const { stage } = this.context;
    const words = text.length > 60 ? `${text.slice(0, 58).replace(/\s\S*$/, "")} …` : text;
    this.marks.push(
      stage.addSphere(place, { colour: RED, radius: 0.09 }),
      stage.addText([place[0], place[1] + 0.3, place[2]], words, RED),
    );
  }

  protected keepMark(mark: Overlay): void {
    this.marks.push(mark);
  }

  private clearMarks(): void {
    for (const mark of this.marks.splice(0)) mark.remove();
  }
}

/** What texts of a request may be, by the field's name. */
function choices(store: Store, subject: string): NonNullable<FormOptions["choices"]> {
  const clips = () => clipNames(store.state, subject);
  return {
    label: () => store.state.graph?.labels ?? [],
    joint: () => store.state.clips[0]?.joints ?? [],
    clip: clips,
    prefer: clips,
  };
}

// ---------------------------------------------------------------- verbs without a panel of their own

class PlainPanel extends VerbPanel<Record<string, Plain>> {
  /** The motion that was last chosen, once this was looked at. */
  private chosen: string | undefined;

  constructor(context: Context, verb: VerbFacts) {
    super(context, verb);
    const ask = this.askButton(verb.title, verb.summary);
    this.element.append(
      verb.subject === "graph" ? buildOffer(context) : "",
      section(
        verb.title,
        null,
        el("p", { class: "lead" }, verb.summary),
        verb.subject === "clip" ? subjectChooser(context, verb.name) : "",
        el("div", { class: "row" }, ask, fileButton(context, verb, () => this.request)),
        jobStrip(context, [verb.name]),
        this.problems,
        this.facts,
      ),
      section("Request", "open", this.form.element),
    );
  }

  /** A motion that was just chosen is looked at, until there is an answer about it. */
  protected override show(state: State): void {
    const subject = state.document.subjects[this.verb.name];
    if (!this.visible || !subject || subject === this.chosen) return;
    this.chosen = subject;
    if (this.resultOnStage(state)?.subject !== subject) this.context.store.setView({ shown: [subject] });
  }

  override hint(): string {
    if (this.verb.subject !== "clip" || this.results.length > 0) return super.hint();
    return this.hasSubject(this.context.store.state) ? `Press ${this.verb.title}.` : "Choose a clip or a result.";
  }

  /** Searching may take long: the button says when, and then every change does. */
  protected override asksByItself(): boolean {
    return this.results.length > 0;
  }
}

/** The panel that any verb gets. */
export const plainPanel = (verb: VerbFacts): Panel => ({
  verb: verb.name,
  title: verb.title,
  mount(left, context) {
    const panel = new PlainPanel(context, verb);
    left.append(panel.element);
    return panel;
  },
});

/** The request as the file that the command line reads. */
export function fileButton({ api, store }: Context, { name }: VerbFacts, request: () => object): HTMLElement {
  const save = async () => {
    try {
      const text = await api.text(`/api/verbs/${name}/request.yaml`, { request: request() });
      download(`${name}.yaml`, text);
    } catch (error) {
      store.say((error as Error).message, "error");
    }
  };
  return button("Request file", () => void save(), {
    icon: "export",
    iconOnly: true,
    kind: "quiet",
    title: `The request as YAML, for choreograph ${name}`,
  });
}

export function download(name: string, text: string, type = "text/plain"): void {
  const href = URL.createObjectURL(new Blob([text], { type }));
  el("a", { attrs: { href, download: name } }).click();
  window.setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
