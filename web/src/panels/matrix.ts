/** Distances between two clips as a picture, with places where they are alike; pressing one shows the transition. */

import { button, el, fill, select } from "../dom";
import type { Matrix, Minimum, PreviewAsk, Result } from "../messages";
import type { Context, State } from "../types";
import { watch } from "./watch";

/** Dots drawn, the nearest first: more would hide the picture. */
const MOST_DOTS = 200;

export function matrixView(context: Context): HTMLElement {
  const { store, api } = context;
  const problem = el("p", { class: "problem", hidden: true, attrs: { role: "alert" } });
  const picture = el("div", {
    class: "matrix",
    attrs: { role: "group", "aria-label": "Places where the two clips are alike" },
  });
  const words = el("p", { class: "quiet-text", attrs: { "aria-live": "polite" } });
  let asked = "";

  const names = (state: State) => state.graph?.clips.map((clip) => clip.name) ?? [];
  const choices = (state: State) => names(state).map((name) => ({ value: name, label: name }));
  let [first, second] = ["", ""];
  const a = select<string>("From", [], "", (name) => ((first = name), void show()));
  const b = select<string>("To", [], "", (name) => ((second = name), void show()));

  async function show(): Promise<void> {
    const query = `a=${encodeURIComponent(first)}&b=${encodeURIComponent(second)}`;
    const key = `${query} ${store.state.graph?.built_from} ${store.state.view.theme}`;
    if (!first || !second || key === asked) return;
    asked = key;
    words.textContent = "Comparing …";
    try {
      const matrix = await api.get<Matrix>(`/api/graph/matrix?${query}`);
      if (asked !== key) return;
      problem.hidden = true;
      fill(picture, drawing(matrix, query), ...dots(matrix));
      picture.style.aspectRatio = `${Math.max(1, matrix.columns)} / ${
        Math.max(1, Math.min(matrix.rows, 2 * matrix.columns))
      }`;
      const under = matrix.minima.filter((minimum) => minimum.distance_m <= matrix.threshold_m).length;
      words.textContent = `${under} transitions under ${
        cm(matrix.threshold_m)
      }, of ${matrix.minima.length} places alike. Press one to see it.`;
    } catch (error) {
      if (asked !== key) return;
      [asked, words.textContent, problem.hidden] = ["", "", false];
      problem.textContent = (error as Error).message;
      fill(picture);
    }
  }

  function drawing(matrix: Matrix, query: string): HTMLElement {
    const source = `/api/graph/matrix.png?${query}&theme=${store.state.view.theme}`;
    return el("img", {
      attrs: {
        src: source,
        alt: `Distances between ${matrix.clip_a}, downwards, and ${matrix.clip_b}, to the right; dark is alike`,
        draggable: "false",
      },
    });
  }

  function dots(matrix: Matrix): HTMLElement[] {
    const nearest = [...matrix.minima].sort((p, q) => p.distance_m - q.distance_m).slice(0, MOST_DOTS);
    return nearest.map((minimum) => {
      const said = `frame ${minimum.frame_a} to frame ${minimum.frame_b}, ${cm(minimum.distance_m)}`;
      const dot = button(said, () => void preview(matrix, minimum, dot), {
        iconOnly: true,
        kind: "quiet",
        title: said,
      });
      dot.className = minimum.distance_m <= matrix.threshold_m ? "minimum under" : "minimum";
      dot.style.left = `${(100 * (minimum.frame_b + 0.5)) / matrix.columns}%`;
      dot.style.top = `${(100 * (minimum.frame_a + 0.5)) / matrix.rows}%`;
      return dot;
    });
  }

  async function preview(matrix: Matrix, minimum: Minimum, dot: HTMLElement): Promise<void> {
    for (const other of picture.querySelectorAll(".minimum[aria-pressed]")) other.removeAttribute("aria-pressed");
    dot.setAttribute("aria-pressed", "true");
    const ask: PreviewAsk = {
      clip_a: matrix.clip_a,
      frame_a: minimum.frame_a,
      clip_b: matrix.clip_b,
      frame_b: minimum.frame_b,
    };
    try {
      const result = await api.send<Result>("POST", "/api/graph/preview", ask);
      // Not by the view: a preview is not kept, and would be gone when the page is loaded again.
      await context.stage.show(result.motions.map((motion) => motion.id));
      context.stage.player.play();
      store.say(`From ${matrix.clip_a} to ${matrix.clip_b}, ${cm(minimum.distance_m)} apart`, "done");
    } catch (error) {
      store.say((error as Error).message, "error");
    }
  }

  watch(store, [(state) => state.graph?.built_from, (state) => state.view.theme], (state) => {
    const known = names(state);
    if (!known.includes(first)) first = known[0] ?? "";
    if (!known.includes(second)) second = known[1] ?? known[0] ?? "";
    for (const [control, name] of [[a, first], [b, second]] as const) {
      control.setChoices(choices(state));
      control.set(name);
    }
    if (picture.checkVisibility()) void show();
  });
  const element = el(
    "div",
    { class: "matrix-view" },
    el("div", { class: "pair" }, a.element, b.element),
    picture,
    words,
    problem,
  );
  // The picture is computed when it comes into sight: the section may be folded.
  new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && void show()).observe(element);
  return element;
}

export const cm = (metres: number): string => `${(100 * metres).toFixed(1)} cm`;
