// The choice of what is shown: a connection and who sends, or several of these.

/** The most that are shown at once. */
const MOST_AT_ONCE = 4;

/** The controls for it. */
export class Chooser {
  /** @param show shows some, each as the places of the connection and of the direction */
  constructor(connections, show) {
    this.connections = connections;
    this.show = show;
    const byId = (id) => document.getElementById(id);
    [this.connection, this.direction, this.several, this.list] = ["connection", "direction", "several", "several-list"].map(byId);
    this.connection.addEventListener("change", () => this.#choose());
    this.direction.addEventListener("change", () => this.#one());
    this.several.addEventListener("toggle", () => this.#fill());
    const count = connections.reduce((sum, { directions }) => sum + directions.length, 0);
    this.several.hidden = count < 2;
  }

  /** Shows the first. */
  start() {
    fillChoice(this.connection, this.connections.map(({ name }) => name));
    document.getElementById("connection-choice").hidden = this.connections.length < 2;
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
    this.list.replaceChildren(...this.connections.flatMap(({ name, directions }, at) => directions.map(({ sender }, side) => {
      const box = Object.assign(document.createElement("input"), { type: "checkbox", value: `${at}.${side}` });
      box.addEventListener("change", () => this.#some());
      const label = document.createElement("label");
      label.append(box, ` ${name}, from the ${sender}`);
      return label;
    })));
  }

  /** Two or more stand below each other; less than two are none. */
  #some() {
    const boxes = [...this.list.querySelectorAll("input")];
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value.split(".").map(Number));
    for (const box of boxes) box.disabled = !box.checked && chosen.length >= MOST_AT_ONCE;
    if (chosen.length > 1) this.show(chosen);
    else this.show([[Number(this.connection.value), Number(this.direction.value)]]);
  }
}

/** Fills a choice with texts. */
function fillChoice(select, texts) {
  select.replaceChildren(...texts.map((text, at) => new Option(text, String(at))));
}
