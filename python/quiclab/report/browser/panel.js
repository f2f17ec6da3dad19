// One pair of axes over time, as SVG: lines, marks, a grid, a legend with the values at the pointer.

import { lowerBound, upperBound } from "../../view/browser/search.js";
import { niceStep } from "../../view/browser/time.js";
import { drawn, element } from "./elements.js";
import { decimalsOf, tick, written } from "./numbers.js";
import { nanoseconds } from "./packed.js";

export const LEFT = 52;
const HEIGHT = 120;
const TOP = 10;
const BELOW = 20;

let clips = 0;

/** A panel of a figure. */
export class Panel {
  /** @param facts title, unit, lines and marks as figures.py makes them */
  constructor(facts) {
    this.facts = facts;
    this.lines = facts.lines.map((line) => {
      const finite = line.values.filter((value) => value !== null).map(Math.abs);
      const decimals = decimalsOf(finite.reduce((most, value) => Math.max(most, value), 0));
      return { ...line, times: nanoseconds(line.times), decimals };
    });
    this.marks = facts.marks.map((mark) => ({ ...mark, times: nanoseconds(mark.times) }));
    this.legend = element("div", { className: "legend" });
    this.svg = drawn("svg", { class: "panel", role: "img" });
    this.clip = `clip-${clips++}`;
  }

  /** The points of a line that are visible, and one on either side. */
  #part(line, time) {
    return [Math.max(0, upperBound(line.times, time.start) - 1), Math.min(line.times.length, lowerBound(line.times, time.end) + 1)];
  }

  /** The greatest value that is visible. */
  most(time) {
    let most = 0;
    for (const line of this.lines) {
      if (line.far) continue;
      const [from, to] = this.#part(line, time);
      for (let at = from; at < to; at++) if (line.values[at] > most) most = line.values[at];
    }
    return most || 1;
  }

  /** Draws it anew. @param most the value at the top @param isLast whether the times stand below it */
  draw(time, colours, most, width, isLast) {
    const height = TOP + HEIGHT + (isLast ? BELOW : 4);
    this.top = most * 1.04;
    const y = (value) => TOP + HEIGHT * (1 - Math.min(value / this.top, 1.1));
    const { svg } = this;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("aria-label", this.#words(time));
    svg.replaceChildren(
      drawn("defs", {}, drawn("clipPath", { id: this.clip }, drawn("rect", { x: LEFT, y: 0, width: time.width, height: TOP + HEIGHT }))),
    );
    const step = niceStep(most / 5);
    for (let value = 0; value <= this.top; value += step) {
      svg.append(drawn("line", { class: "gridline", x1: LEFT, x2: LEFT + time.width, y1: y(value), y2: y(value) }));
      const text = drawn("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" });
      text.textContent = tick(value);
      svg.append(text);
    }
    const { ticks, unit } = time.ticks();
    for (const { time: at, text: words } of ticks) {
      const x = LEFT + time.x(at);
      svg.append(drawn("line", { class: "gridline", x1: x, x2: x, y1: TOP, y2: TOP + HEIGHT }));
      if (!isLast || x > width - 20) continue;
      const text = drawn("text", { x, y: TOP + HEIGHT + 15, "text-anchor": "middle", class: "time" });
      text.textContent = words;
      svg.append(text);
    }
    if (isLast) {
      const text = drawn("text", { x: LEFT - 6, y: TOP + HEIGHT + 15, "text-anchor": "end" });
      text.textContent = `time (${unit})`;
      svg.append(text);
    }
    const inside = drawn("g", { "clip-path": `url(#${this.clip})` });
    for (const line of this.lines) this.#line(inside, line, time, y, colour(colours, line.colour));
    for (const mark of this.marks) this.#marks(inside, mark, time, colour(colours, "vermillion"));
    this.cursor = drawn("line", { class: "cursor", y1: TOP, y2: TOP + HEIGHT, visibility: "hidden" });
    this.selection = drawn("rect", { class: "selection", y: TOP, height: HEIGHT, visibility: "hidden" });
    inside.append(this.selection, this.cursor);
    svg.append(inside);
    this.#fillLegend(colours);
  }

  #words(time) {
    const lines = [...this.lines, ...this.marks].map((one) => one.label).join(", ");
    return `${this.facts.title} in ${this.facts.unit} from ${written(Math.max(time.start, 0) / 1e9, 3)} to ${written(time.end / 1e9, 3)} s: ${lines}`;
  }

  #line(inside, line, time, y, stroke) {
    const [from, to] = this.#part(line, time);
    const foot = y(0);
    let path = "";
    let area = "";
    let isOpen = false;
    let x = 0;
    const close = () => {
      if (isOpen) area += `V${foot}Z`;
      isOpen = false;
    };
    for (let at = from; at < to; at++) {
      // A coordinate of millions of pixels is none that every browser draws.
      x = (LEFT + Math.min(Math.max(time.x(line.times[at]), -1e5), 1e5)).toFixed(1);
      if (line.values[at] === null) {
        // A value holds until there is none.
        if (isOpen && line.style !== "line") [path, area] = [`${path}H${x}`, `${area}H${x}`];
        close();
        continue;
      }
      const height = y(line.values[at]).toFixed(1);
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

  #marks(inside, mark, time, stroke) {
    let path = "";
    const y = TOP + 3;
    for (let at = lowerBound(mark.times, time.start); at < mark.times.length && mark.times[at] <= time.end; at++) {
      const x = LEFT + time.x(mark.times[at]);
      path += `M${(x - 3).toFixed(1)} ${y - 3}l6 6m0 -6l-6 6`;
    }
    inside.append(drawn("path", { class: "marks", d: path, fill: "none", stroke, "stroke-width": 1.1 }));
  }

  #fillLegend(colours) {
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

  /** Shows the values at a time; undefined: none. */
  point(time, at) {
    if (!this.cursor) return;
    this.cursor.setAttribute("visibility", at === undefined ? "hidden" : "visible");
    if (at !== undefined) for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, LEFT + time.x(at));
    this.lines.forEach((line, place) => {
      const before = at === undefined ? -1 : upperBound(line.times, at) - 1;
      const text = before < 0 ? "" : written(line.values[before], line.decimals);
      this.legend.querySelectorAll("b")[place].textContent = text;
    });
  }

  /** Shows what is being selected, in pixels of the axis; without: nothing. */
  select(from, to) {
    this.selection.setAttribute("visibility", from === undefined ? "hidden" : "visible");
    if (from === undefined) return;
    this.selection.setAttribute("x", LEFT + Math.min(from, to));
    this.selection.setAttribute("width", Math.abs(to - from));
  }
}

const PLACES = { blue: 0, vermillion: 1, green: 2, orange: 3, purple: 4, sky: 5 };

function colour(colours, name) {
  return name in PLACES ? colours.palette[PLACES[name]] : getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
