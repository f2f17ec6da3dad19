// The list of keys, as a dialog.

import { inside } from "./elements.js";

/** Each key and what it does. */
const KEY_TEXTS = [
  ["?", "this list"],
  ["g", "go to a packet by its number"],
  ["/", "search: words such as lost, again, ack, stream 4, max_data; Enter and Shift Enter go through what is found"],
  ["n p", "to the next wait, to the one before"],
  [". ,", "to the next packet, to the one before"],
  ["+ \u2212", "zoom in, zoom out"],
  ["\u2190 \u2192", "move in time"],
  ["\u2191 \u2193", "scroll the rows of the streams"],
  ["0 Home", "the whole time"],
  ["t", "show or hide the comparison with one byte stream"],
  ["Escape", "remove the mark; close this list"],
  ["wheel", "zoom at the pointer; with Shift move; over the names of the streams scroll them"],
  ["drag", "move in time"],
  ["two fingers", "zoom to the span between them"],
  ["click", "keep the mark, and read about it below the controls"],
  ["double click", "the whole time; on a stream's button: only this one"],
];

/** Fills the dialog and lets a button open it. The dialog keeps the focus, closes with Escape, and gives the focus back.
 *  @param {HTMLDialogElement} dialog @param {HTMLElement} button */
export function prepareKeys(dialog, button) {
  const body = inside(dialog, "tbody", HTMLTableSectionElement);
  for (const [keys, text] of KEY_TEXTS) {
    const row = body.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    for (const key of /^[a-z]+ [a-z]+$/.test(keys) && keys.length > 3 ? [keys] : keys.split(" ")) {
      const element = document.createElement("kbd");
      element.textContent = key;
      head.append(element, " ");
    }
    row.append(head);
    row.insertCell().textContent = text;
  }
  /** @type {Element | null} */
  let before = null;
  button.addEventListener("click", () => {
    before = document.activeElement;
    dialog.showModal();
  });
  dialog.addEventListener("close", () => before instanceof HTMLElement && before.focus());
  // A click beside the dialog closes it.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  inside(dialog, "button", HTMLButtonElement).addEventListener("click", () => dialog.close());
}
