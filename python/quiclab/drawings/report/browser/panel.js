// One pair of axes over time, as SVG: lines, marks, a grid, a legend with the values at the pointer.

import { lowerBound, upperBound } from "../../view/browser/search.js";
import { niceStep } from "../../view/browser/time.js";
import { drawn, element } from "./elements.js";
import { axisTexts, multiples, widestOf, widthOf } from "./labels.js";
import { decimalsOf, written } from "./numbers.js";
import { nanoseconds } from "./packed.js";

/** @import { Colours } from "../../view/browser/colours.js" */
/** @import { TimeAxis } from "../../view/browser/time.js" */
/** @import { LineFacts, MarkFacts, PanelFacts } from "./facts.js" */

/** The least room beside an axis for its labels. */
const LEAST_ROOM = 52;
/** Between a label and its axis. */
const APART = 6;
/** Of a figure, for labels with all their digits. */
const MOST_OF_WIDTH = 0.25;
const HEIGHT = 120;
const TOP = 10;
const BELOW = 20;
/** Below a figure without times: half of the lowest label of its values. */
const FOOT = 8;

let clips = 0;

/** A line, with its times in nanoseconds and the decimals of its values; the same of a mark; the least value and the greatest.
 *  @typedef {Omit<LineFacts, "times"> & { times: Float64Array, decimals: number }} Line
 *  @typedef {Omit<MarkFacts, "times"> & { times: Float64Array }} Mark
 *  @typedef {[least: number, most: number]} Extent */

/** A panel of a figure. */
export class Panel {
  /** @param {PanelFacts} facts title, unit, lines and marks as figures.py makes them */
  constructor(facts) {
    this.facts = facts;
    this.lines = facts.lines.map((line) => {
      const decimals = decimalsOf(line.values.reduce((/** @type {number} */ most, value) => Math.max(most, Math.abs(value ?? 0)), 0));
      return { ...line, times: nanoseconds(line.times), decimals };
    });
    this.marks = facts.marks.map((mark) => ({ ...mark, times: nanoseconds(mark.times) }));
    this.legend = element("div", { className: "legend" });
    this.svg = drawn("svg", { class: "panel", role: "img" });
    this.clip = `clip-${clips++}`;
    /** Where the axis begins, in pixels, and the value at the top of it. */
    this.left = 0;
    this.top = 1;
    this.cursor = drawn("line", { class: "cursor", y1: TOP, y2: TOP + HEIGHT });
    this.selection = drawn("rect", { class: "selection", y: TOP, height: HEIGHT });
  }

  /** The points of a line that are visible, and one on either side.
   *  @param {Line} line @param {TimeAxis} time */
  #part(line, time) {
    return [Math.max(0, upperBound(line.times, time.start) - 1), Math.min(line.times.length, lowerBound(line.times, time.end) + 1)];
  }

  /** The least and the greatest value that are visible, and zero between them.
   *  @param {TimeAxis} time @returns {Extent} */
  range(time) {
    let [least, most] = [0, 0];
    for (const line of this.lines) {
      if (line.far) continue;
      const [from, to] = this.#part(line, time);
      for (const value of line.values.slice(from, to)) {
        if (value !== null && value > most) most = value;
        if (value !== null && value < least) least = value;
      }
    }
    return least < most ? [least, most] : [0, 1];
  }

  /** The room that the labels of its axis need beside it, in a figure of a width.
   *  @param {Extent} range @param {number} width */
  room([least, most], width) {
    return Math.max(LEAST_ROOM, APART + widestOf(["time (ms)", ...this.#ticks(least, most, width).texts]));
  }

  /** @param {number} least @param {number} most @param {number} width */
  #ticks(least, most, width) {
    const values = multiples(least, most * 1.04, niceStep((most - least) / 5));
    return { values, texts: axisTexts(values, Math.max(width * MOST_OF_WIDTH, LEAST_ROOM)) };
  }

  /** Draws it anew.
   *  @param {TimeAxis} time @param {Colours} colours @param {Extent} range values at the bottom and the top
   *  @param {number} width @param {boolean} isLast whether the times stand below it
   *  @param {number} left the room beside the axis */
  draw(time, colours, [least, most], width, isLast, left) {
    const height = TOP + HEIGHT + (isLast ? BELOW : FOOT);
    [this.left, this.top] = [left, most * 1.04];
    const bottom = least * 1.04;
    /** @param {number} value */
    const y = (value) => TOP + HEIGHT * (1 - Math.min(Math.max((value - bottom) / (this.top - bottom), -0.1), 1.1));
    const { svg } = this;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("aria-label", this.#words(time));
    svg.replaceChildren(
      drawn("defs", {}, drawn("clipPath", { id: this.clip }, drawn("rect", { x: left, y: 0, width: time.width, height: TOP + HEIGHT }))),
    );
    const { values, texts } = this.#ticks(least, most, width);
    values.forEach((value, at) => {
      svg.append(drawn("line", { class: "gridline", x1: left, x2: left + time.width, y1: y(value), y2: y(value) }));
      const text = drawn("text", { x: left - APART, y: y(value) + 4, "text-anchor": "end", class: "value" });
      text.textContent = texts[at];
      svg.append(text);
    });
    this.#times(time, width, isLast);
    const inside = drawn("g", { "clip-path": `url(#${this.clip})` });
    for (const line of this.lines) this.#line(inside, line, time, y, colour(colours, line.colour));
    for (const mark of this.marks) this.#marks(inside, mark, time, colour(colours, "vermillion"));
    for (const one of [this.cursor, this.selection]) one.setAttribute("visibility", "hidden");
    inside.append(this.selection, this.cursor);
    svg.append(inside);
    this.#fillLegend(colours);
  }

  /** @param {TimeAxis} time @param {number} width @param {boolean} isLast */
  #times(time, width, isLast) {
    const { svg, left } = this;
    const { ticks, unit } = time.ticks();
    // Where the label before ends: at first that of the axis.
    let taken = left - APART;
    for (const { time: at, text: words } of ticks) {
      const x = left + time.x(at);
      svg.append(drawn("line", { class: "gridline", x1: x, x2: x, y1: TOP, y2: TOP + HEIGHT }));
      const half = widthOf(words) / 2;
      if (!isLast || x - half < taken + APART || x + half > width) continue;
      taken = x + half;
      const text = drawn("text", { x, y: TOP + HEIGHT + 15, "text-anchor": "middle", class: "time" });
      text.textContent = words;
      svg.append(text);
    }
    if (!isLast) return;
    const text = drawn("text", { x: left - APART, y: TOP + HEIGHT + 15, "text-anchor": "end" });
    text.textContent = `time (${unit})`;
    svg.append(text);
  }

  /** @param {TimeAxis} time */
  #words(time) {
    const lines = [...this.lines, ...this.marks].map((one) => one.label).join(", ");
    return `${this.facts.title} in ${this.facts.unit} from ${written(Math.max(time.start, 0) / 1e9, 3)} to ${written(time.end / 1e9, 3)} s: ${lines}`;
  }

  /** @param {SVGElement} inside @param {Line} line @param {TimeAxis} time @param {(value: number) => number} y
   *  @param {string} stroke */
  #line(inside, line, time, y, stroke) {
    const [from, to] = this.#part(line, time);
    const foot = y(0);
    let path = "";
    let area = "";
    let isOpen = false;
    const close = () => {
      if (isOpen) area += `V${foot}Z`;
      isOpen = false;
    };
    for (let at = from; at < to; at++) {
      // A coordinate of millions of pixels is none that every browser draws.
      const x = (this.left + Math.min(Math.max(time.x(line.times[at]), -1e5), 1e5)).toFixed(1);
      const value = line.values[at];
      if (value === null) {
        // A value holds until there is none.
        if (isOpen && line.style !== "line") [path, area] = [`${path}H${x}`, `${area}H${x}`];
        close();
        continue;
      }
      const height = y(value).toFixed(1);
      const next = line.style === "line" ? `L${x} ${height}` : `H${x}V${height}`;
      path += isOpen ? next : `M${x} ${height}`;
      area += isOpen ? next : `M${x} ${foot}V${height}`;
      isOpen = true;
    }
    close();
    if (line.style === "ground" || line.style === "area") {
      inside.append(drawn("path", { d: area, fill: stroke, "fill-opacity": line.style === "ground" ? 1 : 0.3 }));
    }
    if (line.style !== "ground") {
      const dash = line.dashed ? { "stroke-dasharray": "5 3" } : {};
      inside.append(drawn("path", { class: "series", d: path, fill: "none", stroke, "stroke-width": 1.4, "stroke-linejoin": "round", ...dash }));
    }
  }

  /** @param {SVGElement} inside @param {Mark} mark @param {TimeAxis} time @param {string} stroke */
  #marks(inside, mark, time, stroke) {
    let path = "";
    const y = TOP + 3;
    for (let at = lowerBound(mark.times, time.start); at < mark.times.length && mark.times[at] <= time.end; at++) {
      const x = this.left + time.x(mark.times[at]);
      path += `M${(x - 3).toFixed(1)} ${y - 3}l6 6m0 -6l-6 6`;
    }
    inside.append(drawn("path", { class: "marks", d: path, fill: "none", stroke, "stroke-width": 1.1 }));
  }

  /** @param {Colours} colours */
  #fillLegend(colours) {
    /** @param {string} paint @param {Line} line */
    const key = (paint, { label, style, dashed }) => {
      const swatch = element("i", { className: dashed ? "dashed" : style });
      swatch.style.color = paint;
      return element("span", {}, swatch, label, " ", element("b"));
    };
    this.legend.replaceChildren(
      element("strong", {}, this.facts.title, this.facts.unit ? ` (${this.facts.unit})` : ""),
      ...this.lines.map((line) => key(colour(colours, line.colour), line)),
      ...this.marks.map((mark) => {
        const cross = element("em", {}, "\u00d7 ");
        cross.style.color = colour(colours, "vermillion");
        return element("span", {}, cross, `${mark.label} (${mark.count.toLocaleString("en-US")})`);
      }),
    );
  }

  /** Shows the values at a time; undefined: none.
   *  @param {TimeAxis} time @param {number} [at] */
  point(time, at) {
    const values = this.legend.querySelectorAll("b");
    // Nothing was drawn yet.
    if (!values.length) return;
    this.cursor.setAttribute("visibility", at === undefined ? "hidden" : "visible");
    if (at !== undefined) for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, String(this.left + time.x(at)));
    this.lines.forEach((line, place) => {
      const before = at === undefined ? -1 : upperBound(line.times, at) - 1;
      const text = before < 0 ? "" : written(line.values[before], line.decimals);
      values[place].textContent = text;
    });
  }

  /** Shows what is being selected, in pixels of the axis; without: nothing.
   *  @param {number} [from] @param {number} [to] */
  select(from, to) {
    this.selection.setAttribute("visibility", from === undefined ? "hidden" : "visible");
    if (from === undefined || to === undefined) return;
    this.selection.setAttribute("x", String(this.left + Math.min(from, to)));
    this.selection.setAttribute("width", String(Math.abs(to - from)));
  }
}

/** Names of colours, by the place in the palette.
 *  @type {Record<string, number>} */
const PLACES = { blue: 0, vermillion: 1, green: 2, orange: 3, purple: 4, sky: 5 };

/** @param {Colours} colours @param {string} name */
function colour(colours, name) {
  return name in PLACES ? colours.palette[PLACES[name]] : getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
