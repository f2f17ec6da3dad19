// The choice of what is shown: a connection and who sends, or several of these.

import { byId } from "./elements.js";

/** @import { ConnectionFacts } from "./facts.js" */

/** The most that are shown at once. */
const MOST_AT_ONCE = 4;

/** The controls for it. */
export class Chooser {
  /** @param {(chosen: [at: number, side: number][]) => void} show shows some, each as the places of the connection and of the direction
   *  @param {ConnectionFacts[]} connections */
  constructor(connections, show) {
    this.connections = connections;
    this.show = show;
    /** @param {string} id */
    this.connection = byId("connection", HTMLSelectElement);
    this.direction = byId("direction", HTMLSelectElement);
    this.several = byId("several", HTMLDetailsElement);
    this.list = byId("several-list", HTMLElement);
    this.connection.addEventListener("change", () => this.#choose());
    this.direction.addEventListener("change", () => this.#one());
    this.several.addEventListener("toggle", () => this.#fill());
    /** All that can be shown.
     *  @type {[at: number, side: number][]} */
    this.places = connections.flatMap(({ directions }, at) => directions.map((_, side) => /** @type {[number, number]} */ ([at, side])));
    this.several.hidden = this.places.length < 2;
  }

  /** Shows the first. */
  start() {
    fillChoice(this.connection, this.connections.map(({ name }) => name));
    byId("connection-choice", HTMLElement).hidden = this.connections.length < 2;
    this.#choose();
  }

  #choose() {
    const connection = this.connections[Number(this.connection.value)];
    fillChoice(this.direction, connection.directions.map(({ sender }) => sender));
    this.#one();
  }

  #one() {
    for (const box of this.list.querySelectorAll("input")) [box.checked, box.disabled] = [false, false];
    this.show([[Number(this.connection.value), Number(this.direction.value)]]);
  }

  /** A box for each direction of each connection, made when the list is first opened. */
  #fill() {
    if (this.list.children.length) return;
    this.list.replaceChildren(...this.places.map(([at, side]) => {
      const { name, directions } = this.connections[at];
      const box = Object.assign(document.createElement("input"), { type: "checkbox", value: `${at}.${side}` });
      box.addEventListener("change", () => this.#some());
      const label = document.createElement("label");
      label.append(box, ` ${name}, from the ${directions[side].sender}`);
      return label;
    }));
  }

  /** Two or more stand below each other; less than two are none. */
  #some() {
    const boxes = [...this.list.querySelectorAll("input")];
    const chosen = boxes.flatMap((box, at) => (box.checked ? [this.places[at]] : []));
    for (const box of boxes) box.disabled = !box.checked && chosen.length >= MOST_AT_ONCE;
    if (chosen.length > 1) this.show(chosen);
    else this.show([[Number(this.connection.value), Number(this.direction.value)]]);
  }
}

/** Fills a choice with texts.
 *  @param {HTMLSelectElement} select @param {string[]} texts */
function fillChoice(select, texts) {
  select.replaceChildren(...texts.map((text, at) => new Option(text, String(at))));
}
