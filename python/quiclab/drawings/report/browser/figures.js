// The figures over time of all runs: which are shown, their time axes, zoom by pointer, wheel and keys.

import { TimeAxis } from "../../view/browser/time.js";
import { box, element } from "./elements.js";
import { Panel } from "./panel.js";

/** @import { Colours } from "../../view/browser/colours.js" */
/** @import { FigureFacts } from "./facts.js" */
/** @import { Extent } from "./panel.js" */

/** Figures that are shown at first; the others wait for their box to be ticked. */
const AT_FIRST = 4;
const RIGHT = 8;
/** Runs whose durations differ by less than this factor have one time axis at first. */
const SIMILAR = 4;

/** A connection of a run: its panels below each other over one time axis. */
class TimeFigure {
  /** @param {FigureFacts} facts */
  constructor(facts) {
    this.facts = facts;
    this.panels = facts.panels.map((panel) => new Panel(panel));
    this.duration = Math.max(facts.end * 1e9, 1000);
    this.time = new TimeAxis(this.duration);
    /** Where its axes begin, in pixels. */
    this.left = 0;
    this.isShown = true;
    const help = "Drag to zoom, double click for the whole time. Keys: arrows move, plus and minus zoom, 0 shows all.";
    this.plots = element("div", { className: "plots", tabIndex: 0, role: "group", aria: { label: `${facts.title} over time. ${help}` } });
    for (const panel of this.panels) this.plots.append(panel.legend, panel.svg);
    this.element = element("figure", {}, element("figcaption", {}, `${facts.title}, sent by the ${facts.sender}`), this.plots);
  }
}

/** All of them. */
export class Figures {
  /** @param {Element} place @param {FigureFacts[]} facts @param {() => Colours} colours */
  constructor(place, facts, colours) {
    this.colours = colours;
    /** @type {number | undefined} */
    this.frame = undefined;
    this.figures = facts.map((one) => new TimeFigure(one));
    const chosen = this.#atFirst();
    for (const figure of this.figures) figure.isShown = chosen.includes(figure);
    const durations = this.figures.map((figure) => figure.duration);
    this.isShared = Math.max(...durations) < SIMILAR * Math.min(...durations);
    this.#makeAxes();
    const columns = element("div", { className: "columns" }, ...this.figures.map((figure) => figure.element));
    place.append(this.#toolbar(), columns);
    for (const figure of this.figures) this.#listen(figure);
    new ResizeObserver(() => this.draw()).observe(columns);
    this.draw();
  }

  /** The first connection of each run; of one run the first connections. */
  #atFirst() {
    const firsts = this.figures.filter((figure, at) => figure.facts.run !== this.figures[at - 1]?.facts.run);
    return (firsts.length > 1 ? firsts : this.figures).slice(0, AT_FIRST);
  }

  #makeAxes() {
    const longest = Math.max(...this.figures.map((figure) => figure.duration));
    const shared = new TimeAxis(longest);
    for (const figure of this.figures) figure.time = this.isShared ? shared : new TimeAxis(figure.duration);
  }

  #toolbar() {
    /** @param {string} label @param {number} factor */
    const zoom = (label, factor) => {
      const button = element("button", { type: "button" }, label);
      button.addEventListener("click", () => this.#each((time) => (factor ? time.zoom(factor, time.width / 2) : time.reset())));
      return button;
    };
    const bar = element("div", { className: "toolbar" }, zoom("zoom in", 2), zoom("zoom out", 0.5), zoom("whole time", 0));
    if (this.figures.length < 2) return bar;
    bar.append(box("the same axes for all", this.isShared, (isShared) => {
      this.isShared = isShared;
      this.#makeAxes();
      this.draw();
    }));
    const shown = element("span", { className: "toolbar", role: "group", aria: { label: "Figures that are shown" } });
    for (const figure of this.figures) {
      shown.append(box(figure.facts.title, figure.isShown, (isShown) => {
        figure.isShown = isShown;
        this.draw();
      }));
    }
    bar.append(shown);
    return bar;
  }

  /** @param {(time: TimeAxis) => void} change */
  #each(change) {
    new Set(this.figures.map((figure) => figure.time)).forEach(change);
    this.draw();
  }

  /** Draws all that are shown. */
  draw() {
    for (const figure of this.figures) figure.element.hidden = !figure.isShown;
    const shown = this.figures.filter((figure) => figure.isShown).map((figure) => ({
      figure,
      width: figure.plots.clientWidth || 600,
      panels: figure.panels.map((panel) => ({ panel, range: panel.range(figure.time) })),
    }));
    if (this.isShared) shareRanges(shown.flatMap(({ panels }) => panels));
    for (const { figure, width, panels } of shown) figure.left = Math.max(...panels.map(({ panel, range }) => panel.room(range, width)));
    // Figures over one time axis begin at one place.
    if (this.isShared) for (const { figure } of shown) figure.left = Math.max(...shown.map((one) => one.figure.left));
    for (const { figure, width } of shown) figure.time.width = Math.max(width - figure.left - RIGHT, 100);
    for (const { figure, width, panels } of shown) {
      panels.forEach(({ panel, range }, at) => {
        panel.draw(figure.time, this.colours(), range, width, at === panels.length - 1, figure.left);
      });
    }
  }

  /** Draws before the next frame. */
  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  /** Goes to a span of time of a figure, in seconds.
   *  @param {number} place @param {number} from @param {number} to */
  show(place, from, to) {
    const figure = this.figures[place];
    figure.isShown = true;
    const { time } = figure;
    const margin = (to - from) * 0.1;
    time.show(Math.max((from - margin) * 1e9, time.least), Math.min((to + margin) * 1e9, time.most));
    this.draw();
    figure.element.scrollIntoView({ block: "nearest" });
    figure.plots.focus({ preventScroll: true });
  }

  /** @param {TimeFigure} figure @param {number} [x] */
  #point(figure, x) {
    const at = x === undefined || x < 0 || x > figure.time.width ? undefined : figure.time.time(x);
    for (const one of this.figures) {
      if (one.isShown && (one === figure || one.time === figure.time)) for (const panel of one.panels) panel.point(one.time, at);
    }
  }

  /** @param {TimeFigure} figure */
  #listen(figure) {
    const { plots } = figure;
    /** @param {MouseEvent} event */
    const place = (event) => event.clientX - plots.getBoundingClientRect().left - figure.left;
    /** @type {number | undefined} */
    let from;
    /** @param {number} to */
    const select = (to) => {
      for (const panel of figure.panels) panel.select(from, to);
    };
    plots.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = Math.min(Math.max(place(event), 0), figure.time.width);
      plots.setPointerCapture(event.pointerId);
    });
    plots.addEventListener("pointermove", (event) => {
      const x = place(event);
      this.#point(figure, x);
      if (from !== undefined && Math.abs(x - from) > 3) select(Math.min(Math.max(x, 0), figure.time.width));
    });
    plots.addEventListener("pointerup", (event) => {
      if (from === undefined) return;
      const to = Math.min(Math.max(place(event), 0), figure.time.width);
      const { time } = figure;
      if (Math.abs(to - from) > 3) {
        time.show(time.time(Math.min(from, to)), time.time(Math.max(from, to)));
        this.soon();
      }
      from = undefined;
      for (const panel of figure.panels) panel.select();
    });
    plots.addEventListener("pointercancel", () => {
      from = undefined;
      for (const panel of figure.panels) panel.select();
    });
    plots.addEventListener("pointerleave", () => this.#point(figure));
    plots.addEventListener("dblclick", () => {
      figure.time.reset();
      this.soon();
    });
    plots.addEventListener("wheel", (event) => {
      // A page that is being scrolled stays one.
      if (!event.ctrlKey && document.activeElement !== plots) return;
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 200 : 1;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) figure.time.pan((event.deltaX || event.deltaY) * unit);
      else figure.time.zoom(Math.exp(-event.deltaY * unit * 0.0016), Math.min(Math.max(place(event), 0), figure.time.width));
      this.soon();
    }, { passive: false });
    plots.addEventListener("keydown", (event) => {
      const act = MOVES[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act(figure.time);
      this.soon();
    });
  }
}

/** Gives all panels with one title the range of all of them.
 *  @param {{ panel: Panel, range: Extent }[]} panels */
function shareRanges(panels) {
  for (const one of panels) {
    const same = panels.filter(({ panel }) => panel.facts.title === one.panel.facts.title);
    one.range = [Math.min(...same.map(({ range }) => range[0])), Math.max(...same.map(({ range }) => range[1]))];
  }
}

/** @type {Record<string, (time: TimeAxis) => void>} */
const MOVES = {
  ArrowLeft: (time) => time.pan(-time.width / 5),
  ArrowRight: (time) => time.pan(time.width / 5),
  "+": (time) => time.zoom(1.6, time.width / 2),
  "=": (time) => time.zoom(1.6, time.width / 2),
  "-": (time) => time.zoom(1 / 1.6, time.width / 2),
  0: (time) => time.reset(),
  Home: (time) => time.reset(),
};
