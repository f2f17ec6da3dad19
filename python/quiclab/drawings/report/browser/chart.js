// A chart of a sweep's columns: means with intervals over the runs that the filter leaves, or every run as a dot.

import { niceStep } from "../../view/browser/time.js";
import { valueText } from "./columns.js";
import { box, choice, drawn, element } from "./elements.js";
import { axisTexts, fitted, multiples, widestOf, widthOf } from "./labels.js";
import { decimalsOf, tick, written } from "./numbers.js";

/** @import { Colours } from "../../view/browser/colours.js" */
/** @import { Column } from "./columns.js" */
/** @import { SweepFacts } from "./facts.js" */

/** Around the axes; `left` and `below` at least. */
const SPACE = { left: 58, right: 12, top: 10, height: 260, below: 40 };
const GROUPS = 12;
const DOTS = 5000;
/** Between a label and its axis. */
const GAP = 6;
/** Of the width of a chart, for labels with all their digits. */
const LABELS = 0.25;
/** From the middle of a mean to that of the next group at the same x: the width of the bars of an interval. */
const BESIDE = 9;
/** Of the space between two x, for the groups at one of them. */
const SHARE = 0.8;
/** The height of a line of text, and the longest text that stands upright. */
const LINE = 13;
const UPRIGHT = 260;
/** The widest chart: wider ones than the page are scrolled. */
const WIDEST = 6000;

/** The values of a group at an x: their mean with half of its interval, and of how many runs. Without values the mean is NaN.
 *  @typedef {{ x: number, text: string, values: number[], total: number, mean: number, half: number | null }} Point
 *  @typedef {{ name: string, colour: number, points: Point[] }} Group */

/** From an x to its place, and how far apart groups are there; the greatest room for a label; the width of the chart, and
 *  that of the axis and what is left of it.
 *  @typedef {{ at: (x: number) => number, width: number, left: number, inner: number, slot: number, beside: number }} Places */

/** The chart, its choices and the table of its means. */
export class Chart {
  /** @param {{ columns: Column[], rows: number[] }} runs @param {SweepFacts} facts @param {() => Colours} colours */
  constructor(runs, facts, colours) {
    this.runs = runs;
    this.facts = facts;
    this.colours = colours;
    const { columns } = runs;
    /** @param {Column} column */
    const isResult = (column) => column.kind === "number" && !column.varied && !["run", "repetition"].includes(column.name);
    const varied = columns.filter((column) => column.varied);
    const results = columns.filter(isResult);
    this.x = varied[0] ?? columns.find((column) => column.name === "repetition") ?? columns[0];
    /** @type {Column | undefined} */
    this.y = results.find((column) => column.isShown) ?? results[0];
    /** @type {Column | undefined} */
    this.group = varied[1];
    this.kind = "means";
    this.isLogarithmic = false;
    this.svg = drawn("svg", { class: "panel chart", role: "img" });
    this.legend = element("div", { className: "legend" });
    this.note = element("p", { className: "note", hidden: true });
    this.table = element("table");
    this.element = element("div", {}, element("h3", {}, "Chart"));
    if (!this.y) {
      this.element.append(element("p", {}, "No column has numbers that differ between runs."));
      return;
    }
    /** @param {Column[]} list */
    const named = (list) => list.map((column) => /** @type {[string, string]} */ ([column.name, column.name]));
    /** @param {string} name */
    const by = (name) => columns.find((column) => column.name === name);
    /** @param {(column: Column | undefined) => void} set */
    const change = (set) => (/** @type {string} */ name) => {
      set(by(name));
      this.draw();
    };
    const rest = columns.filter((column) => !column.varied && column.kind === "number");
    const label = "Means of the chart";
    this.element.append(
      element("div", { className: "toolbar" },
        choice("x", named([...varied, ...rest]), this.x.name, change((column) => (this.x = column ?? this.x))),
        choice("y", named(results), this.y.name, change((column) => (this.y = column))),
        choice("group", [["", "none"], ...named(columns.filter((column) => column.varied || column.kind !== "number"))], this.group?.name ?? "", change((column) => (this.group = column))),
        choice("show", [["means", "means with 95 % intervals"], ["runs", "every run"]], "means", (kind) => {
          this.kind = kind;
          this.draw();
        }),
        box("logarithmic x", false, (is) => {
          this.isLogarithmic = is;
          this.draw();
        })),
      this.legend, element("div", { className: "scroll", tabIndex: 0, role: "region", aria: { label: "Chart" } }, this.svg, this.note),
      element("details", {}, element("summary", {}, "Means as a table"), element("div", { className: "scroll", tabIndex: 0, role: "region", aria: { label } }, this.table)));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** The interval of a mean, by Student's t.
   *  @param {number[]} values */
  #statistics(values) {
    const n = values.length;
    const mean = values.reduce((sum, value) => sum + value - values[0], 0) / n + values[0];
    if (n < 2) return { mean, half: null };
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
    const { quantiles, normal } = this.facts;
    // Between the last that is known and the normal distribution the quantile is nearly linear in 1 / degrees.
    const last = quantiles.length;
    const t = n - 1 <= last ? quantiles[n - 2] : normal + ((quantiles[last - 1] - normal) * last) / (n - 1);
    return { mean, half: t * Math.sqrt(variance / n) };
  }

  /** The column of what is shown. */
  get #result() {
    if (!this.y) throw new Error("the sweep has no results");
    return this.y;
  }

  /** The groups in their order: each a name, and its points by x.
   *  @returns {Group[]} */
  #groups() {
    const { x, group } = this;
    const y = this.#result;
    /** @type {Map<number | null, { name: string, order: number, points: Map<number, Omit<Point, "mean" | "half">> }>} */
    const groups = new Map();
    for (const row of this.runs.rows) {
      const [at, value] = [x.values[row], y.values[row]];
      if (at === null) continue;
      const key = group ? group.values[row] : null;
      const found = groups.get(key) ?? { name: group ? valueText(group, row) : "", order: key ?? Infinity, points: new Map() };
      groups.set(key, found);
      const point = found.points.get(at) ?? { x: at, text: valueText(x, row), values: [], total: 0 };
      found.points.set(at, point);
      point.total++;
      if (value !== null) point.values.push(value);
    }
    const sorted = [...groups.values()].sort((one, other) => one.order - other.order);
    // A filter changes no colour, unless there are more groups than colours.
    const every = [...new Set(group?.values ?? [null])].map((key) => key ?? Infinity).sort((one, other) => one - other);
    return sorted.map(({ name, order, points }, at) => ({
      name,
      colour: every.length <= GROUPS ? every.indexOf(order) : at,
      points: [...points.values()].sort((a, b) => a.x - b.x).map((point) => ({ ...point, ...this.#statistics(point.values) })),
    }));
  }

  /** What was varied and is not told apart: its values go into the same means. */
  #mixed() {
    const { x, group } = this;
    const y = this.#result;
    const rows = this.runs.rows.filter((row) => x.values[row] !== null && y.values[row] !== null);
    /** @param {Column[]} columns */
    const count = (columns) => new Set(rows.map((row) => columns.map((column) => column.values[row]).join())).size;
    const named = group ? [x, group] : [x];
    const apart = count(named);
    return this.runs.columns.filter((column) => column.varied && !named.includes(column) && count([...named, column]) > apart);
  }

  /** Draws it anew. */
  draw() {
    if (!this.y) return;
    const all = this.#groups();
    const groups = all.slice(0, GROUPS);
    const width = Math.min(this.element.clientWidth || 600, 860);
    const points = groups.flatMap((group) => group.points);
    const known = points.filter((point) => point.values.length);
    const runs = known.reduce((sum, point) => sum + point.values.length, 0);
    const told = [];
    if (all.length > GROUPS) told.push(`the first ${GROUPS} of ${all.length} groups`);
    const every = Math.ceil(runs / DOTS);
    if (this.kind === "runs" && every > 1) told.push(`every ${every}th run`);
    const some = points.reduce((sum, point) => sum + point.total - point.values.length, 0);
    if (some) told.push(`${some.toLocaleString("en-US")} runs have no value of ${this.y.short}, and do not count`);
    const mixed = this.kind === "means" ? this.#mixed() : [];
    if (mixed.length) told.push(`means over all ${mixed.map((column) => column.short).join(", ")}: a filter or a group tells them apart`);
    this.note.textContent = told.length ? `Shown: ${told.join("; ")}.` : "";
    this.note.hidden = !told.length;
    this.#plot(groups, known, width, every);
    this.#fillTable(all);
  }

  /** @param {Group[]} groups @param {Point[]} known @param {number} page @param {number} every */
  #plot(groups, known, page, every) {
    const { svg, x: column } = this;
    const result = this.#result;
    const colours = this.colours();
    svg.replaceChildren();
    this.legend.replaceChildren(element("strong", {}, result.short));
    if (!known.length) {
      this.legend.append("no run with a value is left");
      return;
    }
    const ends = known.flatMap((point) => (this.kind === "runs" ? extremes(point.values) : [point.mean - (point.half ?? 0), point.mean + (point.half ?? 0)]));
    const [low, most] = [Math.min(0, extremes(ends)[0]), Math.max(0, extremes(ends)[1])];
    const high = most > low ? most : low + 1;
    const values = multiples(low, low + (high - low) * 1.05, niceStep((high - low) / 5));
    const texts = axisTexts(values, Math.max(page * LABELS, SPACE.left - GAP));
    const left = Math.max(SPACE.left, widestOf(texts) + GAP);
    const x = this.#places(known, groups.length, left, page);
    const labels = this.#labels(known, x);
    const { width } = x;
    const height = SPACE.top + SPACE.height + labels.height + SPACE.below - LINE;
    /** @param {number} value */
    const y = (value) => SPACE.top + SPACE.height * (1 - (value - low) / ((high - low) * 1.05));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.minWidth = width > page ? `${width}px` : "";
    svg.style.maxWidth = `${Math.max(width, page)}px`;
    svg.setAttribute("aria-label", `${result.name} by ${column.name}${this.group ? `, for each ${this.group.name}` : ""}`);
    for (const [at, value] of values.entries()) this.#grid(y(value), texts[at], left, width);
    labels.draw();
    const label = drawn("text", { x: left + (width - left - SPACE.right) / 2, y: height - 4, "text-anchor": "middle" });
    label.textContent = fitted(column.short, width - left - SPACE.right);
    svg.append(label);
    groups.forEach((group, at) => {
      const stroke = colours.stream(group.colour);
      const points = group.points.filter((point) => point.values.length);
      // Groups that share an x stand beside each other, so that their intervals can be told apart.
      /** @param {Point} point */
      const place = (point) => x.at(point.x) + (at - (groups.length - 1) / 2) * x.beside;
      if (this.kind === "runs") this.#dots(points, place, y, stroke, every);
      else this.#means(points, place, y, stroke, groups.length > 1 ? x.beside : BESIDE);
      if (!this.group) return;
      const swatch = element("i");
      swatch.style.color = stroke;
      this.legend.append(element("span", {}, swatch, `${this.group.short} ${group.name}`));
    });
  }

  /** From an x to its place: linear, logarithmic, or one place for each text. Also how far groups are apart there, the
   *  greatest room for a label, and the width of the chart, which has room for all places of texts.
   *  @param {Point[]} known @param {number} groups @param {number} left @param {number} page */
  #places(known, groups, left, page) {
    const values = [...new Set(known.map((point) => point.x))].sort((a, b) => a - b);
    const isText = this.x.kind !== "number";
    const isLogarithmic = this.isLogarithmic && !isText && values.every((value) => value > 0);
    const ranks = new Map(values.map((value, at) => [value, at]));
    /** @param {number} value */
    const position = (value) => (isText ? ranks.get(value) ?? NaN : isLogarithmic ? Math.log(value) : value);
    const [least, most] = extremes(values.map(position));
    // Groups at both edges are seen whole, and so are labels.
    const side = Math.max((groups * BESIDE) / 2 + 5, 14);
    const needed = isText ? values.length * Math.max(LINE, (groups * BESIDE) / SHARE) + 2 * side : 0;
    const width = Math.min(Math.max(page, left + needed + SPACE.right), WIDEST);
    const inner = width - left - SPACE.right;
    const widths = this.#texts(known).map(widthOf);
    const margin = Math.min(Math.max(side, isText ? inner / values.length / 2 : Math.max(widths[0], widths[widths.length - 1]) / 2), inner / 2 - 1);
    /** @param {number} value */
    const at = (value) => left + margin + (most > least ? (position(value) - least) / (most - least) : 0.5) * (inner - 2 * margin);
    const gaps = values.slice(1).map((value, number) => at(value) - at(values[number]));
    const slot = gaps.length ? extremes(gaps)[0] : inner;
    return { at, width, left, inner, slot, beside: Math.min(BESIDE, (slot * SHARE) / groups) };
  }

  /** The texts of all x, from left to right.
   *  @param {Point[]} known */
  #texts(known) {
    const texts = new Map(known.map((point) => [point.x, point.text]));
    return [...texts].sort(([a], [b]) => a - b).map(([, text]) => text);
  }

  /** The labels of x: beside each other where they have room, or else upright. Their height, and what draws them.
   *  @param {Point[]} known @param {Places} x */
  #labels(known, x) {
    const isText = this.x.kind !== "number";
    const texts = new Map(known.map((point) => [point.x, point.text]));
    const values = isText || texts.size <= 40 ? [...texts.keys()].sort((a, b) => a - b) : this.#evenTicks(known, x.inner);
    const words = values.map((value) => texts.get(value) ?? tick(value));
    const widest = widestOf(words);
    const isUpright = isText && widest + GAP > x.slot;
    const height = isUpright ? Math.min(widest, UPRIGHT) + GAP : LINE;
    const top = SPACE.top + SPACE.height;
    const draw = () => {
      let taken = -Infinity;
      values.forEach((value, number) => {
        const [at, half] = [x.at(value), isUpright ? LINE / 2 : widthOf(words[number]) / 2];
        if (at - half < taken || (!isText && at + half > x.width)) return;
        taken = at + half + (isUpright ? 0 : GAP);
        const place = isUpright ? { transform: `translate(${at + 4} ${top + 8}) rotate(-90)`, "text-anchor": "end" } : { x: at, y: top + 16, "text-anchor": "middle" };
        const text = drawn("text", { class: "place", ...place });
        text.textContent = fitted(words[number], isUpright ? UPRIGHT : Infinity);
        if (text.textContent !== words[number]) {
          const title = drawn("title");
          title.textContent = words[number];
          text.append(title);
        }
        this.svg.append(text, drawn("line", { class: "gridline", x1: at, x2: at, y1: SPACE.top, y2: top + 4 }));
      });
    };
    return { height, draw };
  }

  /** @param {Point[]} known @param {number} inner */
  #evenTicks(known, inner) {
    const [least, most] = extremes(known.map((point) => point.x));
    return multiples(least, most, niceStep((most - least) / Math.max(2, inner / 100)));
  }

  /** @param {number} y @param {string} words @param {number} left @param {number} width */
  #grid(y, words, left, width) {
    const text = drawn("text", { x: left - GAP, y: y + 4, "text-anchor": "end", class: "value" });
    text.textContent = words;
    this.svg.append(text, drawn("line", { class: "gridline", x1: left, x2: width - SPACE.right, y1: y, y2: y }));
  }

  /** @param {Point[]} points @param {(point: Point) => number} at @param {(value: number) => number} y
   *  @param {string} stroke @param {number} beside */
  #means(points, at, y, stroke, beside) {
    const line = points.map((point, number) => `${number ? "L" : "M"}${at(point).toFixed(1)} ${y(point.mean).toFixed(1)}`).join("");
    // Between texts there is nothing.
    if (this.x.kind === "number") this.svg.append(drawn("path", { class: "series", d: line, fill: "none", stroke, "stroke-width": 1.6 }));
    const { decimals } = this.#result;
    for (const point of points) {
      if (point.half) {
        const [low, high] = [y(point.mean - point.half), y(point.mean + point.half)];
        const bar = Math.min(4, beside * 0.45);
        const d = `M${at(point)} ${low}V${high}M${at(point) - bar} ${low}h${2 * bar}M${at(point) - bar} ${high}h${2 * bar}`;
        this.svg.append(drawn("path", { class: "interval", d, fill: "none", stroke, "stroke-width": 1.3 }));
      }
      const title = drawn("title");
      title.textContent = `${point.text}: ${written(point.mean, decimals)}${point.half ? ` ± ${written(point.half, decimals)}` : ""}, ${point.values.length} of ${point.total} runs`;
      this.svg.append(drawn("circle", { class: "mean", cx: at(point), cy: y(point.mean), r: Math.max(1.5, Math.min(3.5, beside * 0.4)), fill: stroke }, title));
    }
  }

  /** @param {Point[]} points @param {(point: Point) => number} at @param {(value: number) => number} y
   *  @param {string} stroke @param {number} every */
  #dots(points, at, y, stroke, every) {
    let d = "";
    let number = 0;
    for (const point of points) {
      for (const value of point.values) if (number++ % every === 0) d += `M${at(point).toFixed(1)} ${y(value).toFixed(1)}h0`;
    }
    this.svg.append(drawn("path", { class: "dots", d, stroke, "stroke-width": 5, "stroke-linecap": "round", "stroke-opacity": 0.5 }));
  }

  /** @param {Group[]} groups */
  #fillTable(groups) {
    const { x, group } = this;
    const all = groups.flatMap((one) => one.points.map((point) => ({ ...point, group: one.name })));
    const shown = all.slice(0, 500);
    const means = shown.filter((point) => point.values.length).map((point) => Math.abs(point.mean));
    const decimals = decimalsOf(means.length ? extremes(means)[1] : 0);
    const heads = [[x.short, ""], ...(group ? [[group.short, ""]] : []), ["runs", "number"], ["of", "number"], ["mean", "number"], ["\u00b1", "number"]];
    const rows = shown.map((point) => {
      const has = point.values.length > 0;
      const numbers = [String(point.values.length), String(point.total), has ? written(point.mean, decimals) : "-", has ? written(point.half, decimals) : "-"];
      return element("tr", {}, element("th", { scope: "row" }, point.text), ...(group ? [element("td", {}, point.group)] : []), ...numbers.map((text) => element("td", { className: "number" }, text)));
    });
    const more = all.length > shown.length ? `; the first ${shown.length} of ${all.length}` : "";
    this.table.replaceChildren(
      element("caption", {}, `Means of ${this.#result.name} with 95 % intervals over the filtered runs${more}`),
      element("thead", {}, element("tr", {}, ...heads.map(([text, className]) => element("th", { scope: "col", className }, text)))),
      element("tbody", {}, ...rows),
    );
  }
}

/** The least and the greatest: of more numbers than a call can have.
 *  @param {number[]} values */
function extremes(values) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}
