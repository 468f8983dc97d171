/** Fields that one types into: whether something is typed that nobody has heard of yet, and undo that knows of it. */

/** What each field said when it was last heard or filled. */
const heard = new WeakMap<Element, string>();

const FIELDS = "textarea, [contenteditable], input:not([type=range], [type=checkbox], [type=file])";

/** Whether typing goes into this element. */
export const isField = (element: Element): boolean => element.matches(FIELDS);

/** Whether a field has the focus and something typed into it that was not taken over yet. */
export function isTyped(element: Element): boolean {
  if (document.activeElement !== element || !isField(element)) return false;
  if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement)) return true;
  return element.validity.badInput || (heard.has(element) && heard.get(element) !== element.value);
}

/** Fill a field, unless somebody types into it. */
export function fillField(input: HTMLInputElement, text: string): void {
  if (isTyped(input)) return;
  if (input.value !== text) input.value = text; // setting it forgets what the browser would undo
  heard.set(input, text);
}

/** Take note of what fields say when they get the focus, and when what was typed is taken over. */
export function listenToTyping(): void {
  const note = ({ target }: Event) => {
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) heard.set(target, target.value);
  };
  document.addEventListener("focusin", note);
  document.addEventListener("change", note); // comes after the field's own listeners, which may have put it right
}
