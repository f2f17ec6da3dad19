// The runs of a sweep: a table to filter and sort, whose columns are chosen; a click shows the run.

import { Chart } from "./chart.js";
import { finder, order, readColumns, valueText } from "./columns.js";
import { element } from "./elements.js";
import { makeFilter } from "./filter.js";
import { Detail } from "./detail.js";

/** @import { Colours } from "../../view/browser/colours.js" */
/** @import { Column } from "./columns.js" */
/** @import { SweepFacts } from "./facts.js" */

const ROWS = 25;
/** Letters of a text from which it may break anywhere: an error, or a component with its options. */
const LONG = 24;

/** A sweep on the page. */
export class Runs {
  /** @param {Element} place @param {SweepFacts} facts @param {() => Colours} colours */
  constructor(place, facts, colours) {
    this.columns = readColumns(facts.columns);
    this.find = finder(this.columns, facts.same);
    this.count = this.columns[0]?.values.length ?? 0;
    this.rows = Array.from({ length: this.count }, (_, row) => row);
    /** @type {{ column: Column, isDown: boolean } | null} */
    this.sorted = null;
    this.page = 0;
    this.input = element("input", {
      type: "search",
      placeholder: this.#example(),
      spellcheck: false,
      title: "Column, comparison (= != < > <= >= or ~ for contains), value; joined by and, or, not and brackets.",
    });
    this.input.addEventListener("input", () => this.apply());
    this.message = element("output", { role: "status" });
    this.table = element("table");
    this.pager = element("div", { className: "toolbar" });
    this.detail = new Detail(this, facts, colours);
    this.chart = new Chart(this, facts, colours);
    const label = "Runs of the sweep";
    place.append(
      element("h3", {}, "Runs"),
      element("div", { className: "toolbar" }, element("label", { className: "choice filter" }, "Filter", this.input), this.message),
      this.#chooser(),
      element("div", { className: "split" },
        element("div", {}, element("div", { className: "scroll", tabIndex: 0, role: "region", aria: { label } }, this.table), this.pager),
        element("div", {}, this.detail.element, this.chart.element)),
    );
    this.apply();
  }

  /** A filter that this sweep could have. */
  #example() {
    const varied = this.columns.find((column) => column.varied && column.kind === "number");
    const result = this.columns.find((column) => !column.varied && column.isShown && column.kind === "number" && column.name !== "run");
    const parts = [];
    // Of the first run that has both: a transfer that was not completed has no completion time.
    const row = result ? result.values.findIndex((value, at) => value !== null && (!varied || varied.values[at] !== null)) : 0;
    if (result && row >= 0) parts.push(`${result.short} > ${valueText(result, row).replaceAll(",", "")}`);
    if (varied) parts.push(`${varied.short} = ${valueText(varied, Math.max(row, 0)).replaceAll(",", "")}`);
    return parts.join(" and ") || "run < 10";
  }

  #chooser() {
    const set = element("fieldset", {}, element("legend", {}, "Columns of the table"));
    for (const column of this.columns) {
      const input = element("input", { type: "checkbox", checked: column.isShown });
      input.addEventListener("change", () => {
        column.isShown = input.checked;
        this.fill();
      });
      set.append(element("label", { title: column.name }, input, ` ${column.name}`));
    }
    return element("details", {}, element("summary", {}, `Choose columns (${this.columns.length})`), set);
  }

  /** Applies filter and order. */
  apply() {
    let filter = null;
    try {
      filter = makeFilter(this.input.value, this.find);
      this.input.removeAttribute("aria-invalid");
    } catch (error) {
      // While it is being typed, the rows stay as they are.
      this.input.setAttribute("aria-invalid", "true");
      this.message.textContent = error instanceof Error ? error.message : String(error);
    }
    if (filter) {
      this.rows = [];
      for (let row = 0; row < this.count; row++) if (filter(row)) this.rows.push(row);
      this.message.textContent = `${this.rows.length.toLocaleString("en-US")} of ${this.count.toLocaleString("en-US")} runs`;
      this.page = 0;
    }
    if (this.sorted) this.rows.sort(order(this.sorted.column, this.sorted.isDown));
    this.fill();
    if (filter) this.chart.draw();
  }

  /** @param {Column} column */
  #sort(column) {
    const isDown = this.sorted?.column === column ? !this.sorted.isDown : column.kind === "number" && !column.varied && column.name !== "run";
    this.sorted = { column, isDown };
    this.page = 0;
    this.apply();
    /** @type {HTMLElement | null} */
    const head = this.table.querySelector("[aria-sort] button");
    head?.focus({ preventScroll: true });
  }

  /** Fills the table with the rows of a page. */
  fill() {
    const shown = this.columns.filter((column) => column.isShown);
    const heads = shown.map((column) => {
      const head = element("th", { scope: "col", className: column.kind === "number" ? "number" : "", title: column.name });
      const sorted = this.sorted?.column === column ? this.sorted : null;
      if (sorted) head.setAttribute("aria-sort", sorted.isDown ? "descending" : "ascending");
      const button = element("button", { type: "button", aria: { label: `Sort by ${column.name}` } }, `${column.short}${sorted ? (sorted.isDown ? " \u25be" : " \u25b4") : ""}`);
      button.addEventListener("click", () => this.#sort(column));
      head.append(button);
      return head;
    });
    const first = this.page * ROWS;
    const rows = this.rows.slice(first, first + ROWS).map((row) => this.#row(row, shown));
    this.table.replaceChildren(
      element("caption", {}, "Runs of the sweep: click a run to see it"),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "show"), ...heads)),
      element("tbody", {}, ...rows),
    );
    this.#fillPager(first, rows.length);
  }

  /** @param {number} row @param {Column[]} shown */
  #row(row, shown) {
    const number = this.number(row);
    const button = element("button", { type: "button", aria: { label: `Show run ${number}` } }, "\u25b8");
    const cells = shown.map((column) => element("td", { className: column.kind === "number" ? "number" : LONG < valueText(column, row).length ? "long" : "" }, valueText(column, row)));
    const line = element("tr", {}, element("td", {}, button), ...cells);
    if (this.detail.row === row) line.setAttribute("aria-current", "true");
    line.addEventListener("click", () => this.open(row));
    return line;
  }

  /** The number of the run of a row.
   *  @param {number} row */
  number(row) {
    const number = this.columns[0].values[row];
    if (number === null) throw new Error(`the run of row ${row} has no number`);
    return number;
  }

  /** Shows a run.
   *  @param {number} row */
  open(row) {
    this.detail.show(row);
    this.fill();
    this.detail.element.scrollIntoView({ block: "nearest" });
    this.detail.heading?.focus({ preventScroll: true });
  }

  /** @param {number} first @param {number} count */
  #fillPager(first, count) {
    const pages = Math.ceil(this.rows.length / ROWS);
    this.pager.hidden = pages < 2;
    /** @param {string} label @param {number} by */
    const turn = (label, by) => {
      const button = element("button", { type: "button", disabled: this.page + by < 0 || this.page + by >= pages }, label);
      button.addEventListener("click", () => {
        this.page += by;
        this.fill();
      });
      return button;
    };
    this.pager.replaceChildren(turn("previous", -1), `${(first + 1).toLocaleString("en-US")} to ${(first + count).toLocaleString("en-US")}`, turn("next", 1));
  }
}
