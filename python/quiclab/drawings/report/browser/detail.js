// One run of a sweep: what was varied, its results, its series over time, how to repeat it.

import { TimeAxis } from "../../view/browser/time.js";
import { valueText } from "./columns.js";
import { breaking, choice, element } from "./elements.js";
import { Panel } from "./panel.js";

const UNITS = { mbps: "Mbit/s", ms: "ms", s: "s", bytes: "bytes", packets: "packets" };

/** The part of the page about the run that was chosen. */
export class Detail {
  constructor(runs, facts, colours) {
    this.runs = runs;
    this.facts = facts;
    this.colours = colours;
    this.element = element("section", { className: "detail", hidden: true, aria: { label: "The chosen run" } });
    this.series = new Map();
    for (const [run, ...one] of facts.series) {
      if (!this.series.has(run)) this.series.set(run, []);
      this.series.get(run).push(one);
    }
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Shows the run of a row. */
  show(row) {
    this.row = row;
    const { columns } = this.runs;
    const number = this.runs.number(row);
    this.heading = element("h3", { tabIndex: -1 }, `Run ${number}`);
    const close = element("button", { type: "button" }, "close");
    close.addEventListener("click", () => {
      this.row = undefined;
      this.element.hidden = true;
      this.runs.fill();
    });
    const pairs = (of) => element("dl", { className: "pairs" }, ...of.map((column) => (
      element("div", {}, element("dt", {}, ...breaking(column.name)), element("dd", {}, valueText(column, row)))
    )));
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
      ].filter(Boolean),
    );
    this.element.hidden = false;
    this.draw();
  }

  #repeat(row) {
    const [options, folder] = this.facts.repeat[row] ?? [];
    if (!options) return null;
    const line = element("p", {}, "Again: ", element("code", {}, `quiclab run FILE ${options}`));
    if (folder) line.append(" ", element("a", { href: folder }, "its folder"));
    return line;
  }

  #panels(number) {
    const series = this.series.get(number) ?? [];
    this.panels = [];
    if (!series.length) return this.facts.series.length ? element("p", {}, "The page has no time series of this run.") : null;
    const subjects = [...new Set(series.map(([subject]) => subject))];
    // The choice stays when another run is shown; at first it is what has most to show.
    const size = (subject) => series.filter(([one]) => one === subject).reduce((sum, [, , times]) => sum + times.length, 0);
    if (!subjects.includes(this.subject)) this.subject = subjects.reduce((best, one) => (size(one) > size(best) ? one : best));
    this.plots = element("div");
    const fill = () => this.#fillPlots(series.filter(([subject]) => subject === this.subject));
    fill();
    const choose = choice("of", subjects.map((subject) => [subject, subject]), this.subject, (subject) => {
      this.subject = subject;
      fill();
      this.draw();
    });
    return element("div", {}, element("h3", {}, "Over time"), choose, this.plots);
  }

  #fillPlots(series) {
    this.panels = series.map(([, quantity, times, values], at) => {
      const word = quantity.split("_").at(-1);
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
    if (this.element.hidden || !this.panels?.length) return;
    const width = this.plots.clientWidth || 600;
    const ranges = this.panels.map((panel) => panel.range(this.time));
    const left = Math.max(...this.panels.map((panel, at) => panel.room(ranges[at], width)));
    this.time.width = Math.max(width - left - 8, 100);
    this.panels.forEach((panel, at) => panel.draw(this.time, this.colours(), ranges[at], width, at === this.panels.length - 1, left));
  }
}
