// One run of a sweep: what was varied, its results, its series over time, how to repeat it.

import { TimeAxis } from "../../view/browser/time.js";
import { valueText } from "./columns.js";
import { breaking, choice, element } from "./elements.js";
import { Panel } from "./panel.js";

/** @import { Colours } from "../../view/browser/colours.js" */
/** @import { Column } from "./columns.js" */
/** @import { SweepFacts } from "./facts.js" */

/** Units by the last word of a quantity.
 *  @type {Record<string, string>} */
const UNITS = { mbps: "Mbit/s", ms: "ms", s: "s", bytes: "bytes", packets: "packets" };

/** What a series is of, its quantity, times and values.
 *  @typedef {[subject: string, quantity: string, times: number[], values: (number | null)[]]} Series */

/** The runs of a sweep, as far as one of them is shown.
 *  @typedef {{ columns: Column[], number: (row: number) => number, fill: () => void }} Runs */

/** The part of the page about the run that was chosen. */
export class Detail {
  /** @param {Runs} runs @param {SweepFacts} facts @param {() => Colours} colours */
  constructor(runs, facts, colours) {
    this.runs = runs;
    this.facts = facts;
    this.colours = colours;
    this.element = element("section", { className: "detail", hidden: true, aria: { label: "The chosen run" } });
    /** @type {Map<number, Series[]>} */
    this.series = new Map();
    for (const [run, ...one] of facts.series) this.series.set(run, [...(this.series.get(run) ?? []), one]);
    /** The row of the run that is shown.
     *  @type {number | undefined} */
    this.row = undefined;
    this.heading = element("h3", { tabIndex: -1 });
    /** @type {Panel[]} */
    this.panels = [];
    this.plots = element("div");
    this.time = new TimeAxis(0);
    /** What series are shown of, once it was chosen. */
    this.subject = "";
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Shows the run of a row.
   *  @param {number} row */
  show(row) {
    this.row = row;
    const { columns } = this.runs;
    const number = this.runs.number(row);
    this.heading.textContent = `Run ${number}`;
    const close = element("button", { type: "button" }, "close");
    close.addEventListener("click", () => {
      this.row = undefined;
      this.element.hidden = true;
      this.runs.fill();
    });
    /** @param {Column[]} shown */
    const pairs = (shown) => element("dl", { className: "pairs" }, ...shown.map((column) => (
      element("div", {}, element("dt", {}, ...breaking(column.name)), element("dd", {}, valueText(column, row)))
    )));
    /** @param {Column} column */
    const isGiven = (column) => column.varied || ["repetition", "seed"].includes(column.name);
    const error = columns.find((column) => column.name === "error");
    const failed = error && error.values[row] !== null ? element("p", { className: "note" }, `failed: ${valueText(error, row)}`) : null;
    const results = columns.filter((column) => !isGiven(column) && !["run", "error"].includes(column.name) && column.values[row] !== null);
    this.element.replaceChildren(
      ...[
        element("header", {}, this.heading, close),
        failed,
        pairs(columns.filter(isGiven)),
        this.#repeat(row),
        element("h3", {}, "Results"),
        pairs(results),
        this.#panels(number),
      ].filter((one) => one !== null),
    );
    this.element.hidden = false;
    this.draw();
  }

  /** @param {number} row */
  #repeat(row) {
    const [options, folder] = this.facts.repeat[row] ?? [];
    if (!options) return null;
    const line = element("p", {}, "Again: ", element("code", {}, `quiclab run FILE ${options}`));
    if (folder) line.append(" ", element("a", { href: folder }, "its folder"));
    return line;
  }

  /** @param {number} number */
  #panels(number) {
    const series = this.series.get(number) ?? [];
    this.panels = [];
    if (!series.length) return this.facts.series.length ? element("p", {}, "The page has no time series of this run.") : null;
    const subjects = [...new Set(series.map(([subject]) => subject))];
    // The choice stays when another run is shown; at first it is what has most to show.
    /** @param {string} subject */
    const size = (subject) => series.filter(([one]) => one === subject).reduce((sum, [, , times]) => sum + times.length, 0);
    if (!subjects.includes(this.subject)) this.subject = subjects.reduce((best, one) => (size(one) > size(best) ? one : best));
    const fill = () => this.#fillPlots(series.filter(([subject]) => subject === this.subject));
    fill();
    const choose = choice("of", subjects.map((subject) => /** @type {[string, string]} */ ([subject, subject])), this.subject, (subject) => {
      this.subject = subject;
      fill();
      this.draw();
    });
    return element("div", {}, element("h3", {}, "Over time"), choose, this.plots);
  }

  /** @param {Series[]} series */
  #fillPlots(series) {
    this.panels = series.map(([, quantity, times, values], at) => {
      const word = quantity.slice(quantity.lastIndexOf("_") + 1);
      const unit = UNITS[word];
      return new Panel({
        title: unit ? quantity.slice(0, -word.length - 1) || word : quantity,
        unit: unit ?? "",
        lines: [{ label: "", colour: ["blue", "green", "orange", "vermillion"][at % 4], style: "steps", times, values }],
        marks: [],
      });
    });
    const end = Math.max(...this.panels.map((panel) => panel.lines[0].times.at(-1) ?? 0));
    this.time = new TimeAxis(end);
    this.plots.replaceChildren(...this.panels.flatMap((panel) => [panel.legend, panel.svg]));
  }

  /** Draws its series. */
  draw() {
    if (this.element.hidden || !this.panels.length) return;
    const width = this.plots.clientWidth || 600;
    const ranges = this.panels.map((panel) => panel.range(this.time));
    const left = Math.max(...this.panels.map((panel, at) => panel.room(ranges[at], width)));
    this.time.width = Math.max(width - left - 8, 100);
    for (const [at, panel] of this.panels.entries()) {
      panel.draw(this.time, this.colours(), ranges[at], width, at === this.panels.length - 1, left);
    }
  }
}
