// The panels of congestion control: window and bytes in flight, and the round-trip times.

import { pixelEnd } from "./pyramid.js";
import { lowerBound, upperBound } from "./search.js";
import { fixed } from "./text.js";
import { decimals, niceStep } from "./time.js";

/** @import { Frame } from "./frame.js" */
/** @import { Series } from "./model.js" */
/** @import { Scene, Target } from "./panels.js" */

/** The least distance of two values on the axis, in pixels. */
const TICK_GAP = 16;

/** What has gauges: a direction of a connection, or a bottleneck.
 *  @typedef {{ metrics: Map<string, Series>, duration: number, facts: { hasSender: boolean } }} Gauged */

/** A line: name of the gauge, text, colour of the palette, style. What is bound by others does not stretch the axis.
 *  @typedef {{ name: string, text: string, short?: string, colour: number, isArea?: boolean, isDots?: boolean,
 *    isBound?: boolean, dash?: number[] }} Line */

/** Lines of gauges on the shared time axis.
 *  @template {Gauged} [Shown=Gauged] */
export class GaugesPanel {
  /** @param {Scene<Shown>} figure @param {string} title @param {number} height @param {Line[]} lines
   *  @param {number} factor values in the unit of the title */
  constructor(figure, title, height, lines, factor) {
    this.figure = figure;
    this.title = title;
    // Without values there is no more than a sentence.
    this.height = lines.some((line) => figure.direction.metrics.has(line.name)) ? height : 24;
    this.top = 0;
    this.lines = lines;
    this.factor = factor;
    /** The greatest visible value. */
    this.most = 1;
  }

  /** @param {Frame} frame */
  draw(frame) {
    const { direction, time } = this.figure;
    const shown = this.lines.flatMap((line) => {
      const series = direction.metrics.get(line.name);
      if (!series) return [];
      // The part of its column that is visible, and one value before it.
      const { times } = series;
      return [{ line, series, from: Math.max(0, upperBound(times, time.start) - 1), to: lowerBound(times, time.end) }];
    });
    if (!shown.length) {
      frame.label(this, "");
      frame.note(this, direction.facts.hasSender ? "the log has no recovery metrics" : "no log of the sender");
      return;
    }
    let most = 0;
    for (const { line, series, from, to } of shown) {
      if (line.isBound) continue;
      const [, greatest, visited] = series.extremes.of(from, to);
      frame.visited += visited;
      if (greatest > most) most = greatest;
    }
    this.most = most || 1;
    this.#grid(frame);
    for (const { line, series, from, to } of shown) this.#line(frame, line, this.#points(frame, series, from, to));
    this.#legend(frame, shown.map(({ line }) => line));
  }

  /** @param {number} value */
  #y(value) {
    // Whole pixels: a line of two is then crisp.
    return Math.round(this.top + this.height - Math.min(value / this.most, 1.2) * (this.height - 22) - 1);
  }

  /** @param {Frame} frame */
  #grid(frame) {
    const { colours, time } = this.figure;
    const { context } = frame;
    frame.label(this, "");
    const step = niceStep(this.most / this.factor / Math.max(2, (this.height - 22) / TICK_GAP));
    const digits = decimals(step);
    for (let at = 0; at * step * this.factor <= this.most; at++) {
      const y = this.#y(at * step * this.factor) + 0.5;
      // The title has its place on the left.
      if (y < this.top + 18) continue;
      context.strokeStyle = colours.grid;
      context.beginPath();
      context.moveTo(frame.left, y);
      context.lineTo(frame.left + time.width, y);
      context.stroke();
      frame.later(() => {
        context.font = "10px system-ui, sans-serif";
        context.textAlign = "right";
        context.textBaseline = "middle";
        context.fillStyle = colours.soft;
        context.fillText(fixed(at * step, digits), frame.left - 6, Math.min(y, this.top + this.height - 5));
      });
      frame.count += 2;
    }
  }

  /** A line of steps; where there are more values than pixels, each column from its least to its most.
   *  @param {Frame} frame @param {Line} line @param {number[]} points x, y, x, y ... */
  #line(frame, line, points) {
    const { direction, time, colours } = this.figure;
    const { context } = frame;
    context.save();
    context.beginPath();
    context.rect(frame.left, this.top, time.width, this.height);
    context.clip();
    const colour = colours.palette[line.colour];
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = line.isArea ? 1 : 2;
    context.setLineDash(line.dash ?? []);
    if (line.isDots) {
      for (let at = 0; at < points.length; at += 2) context.fillRect(points[at] - 1, points[at + 1] - 1, 2, 2);
    } else {
      context.beginPath();
      for (let at = 0; at < points.length; at += 2) {
        if (at > 0) context.lineTo(points[at], points[at - 1]);
        context.lineTo(points[at], points[at + 1]);
      }
      const end = frame.left + Math.min(time.width, time.x(direction.duration));
      if (points.length) context.lineTo(end, points[points.length - 1]);
      context.stroke();
      if (line.isArea && points.length) {
        context.lineTo(end, this.top + this.height);
        context.lineTo(points[0], this.top + this.height);
        context.globalAlpha = 0.18;
        context.fill();
      }
    }
    frame.count += points.length / 2;
    context.restore();
  }

  /** The points of a line: x, y, x, y ...; at most two for each pixel.
   *  @param {Frame} frame @param {Series} series @param {number} from @param {number} to */
  #points(frame, { times, values, extremes }, from, to) {
    const { time } = this.figure;
    /** @type {number[]} */
    const points = [];
    /** @param {number} at @param {number} value */
    const add = (at, value) => points.push(frame.left + Math.max(-2, time.x(times[at])), this.#y(value));
    if (to - from <= 2 * time.width) {
      for (let at = from; at < to; at++) add(at, values[at]);
      frame.visited += to - from;
      return points;
    }
    const [factor, start] = [time.width / time.span, time.start];
    for (let at = from; at < to;) {
      const next = pixelEnd(times, at, to, start, factor);
      const [least, most, visited] = extremes.of(at, next);
      frame.visited += visited;
      // First what is nearer to the column before.
      const isFalling = values[at] - least > most - values[at];
      add(at, isFalling ? most : least);
      if (least !== most) add(at, isFalling ? least : most);
      at = next;
    }
    return points;
  }

  /** @param {Frame} frame @param {Line[]} shown */
  #legend(frame, shown) {
    const { colours, time } = this.figure;
    const { context } = frame;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    /** @param {string[]} texts */
    const measured = (texts) => texts.map((text) => context.measureText(text).width + 34);
    /** @param {number[]} widths */
    const sum = (widths) => widths.reduce((one, other) => one + other, 0);
    const long = shown.map((line) => line.text);
    const texts = sum(measured(long)) <= time.width ? long : shown.map((line) => line.short ?? line.text);
    const widths = measured(texts);
    let x = frame.left + time.width - sum(widths);
    const y = this.top + 8;
    context.globalAlpha = 0.8;
    context.fillStyle = colours.panel;
    context.fillRect(x - 4, this.top, frame.left + time.width - x + 4, 17);
    context.globalAlpha = 1;
    shown.forEach((line, at) => {
      context.strokeStyle = colours.palette[line.colour];
      context.lineWidth = line.isArea ? 5 : 2;
      context.setLineDash(line.isDots ? [2, 4] : line.dash ?? []);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + 18, y);
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = colours.ink;
      context.fillText(texts[at], x + 22, y + 0.5);
      x += widths[at];
    });
    context.lineWidth = 1;
    frame.count += 2 * shown.length;
  }

  /** @param {number} x @returns {Target | undefined} */
  hit(x) {
    return this.found(this.figure.time.time(x));
  }

  /** What is at a time.
   *  @param {number} time @returns {Target} */
  found(time) {
    return { kind: "gauges", time };
  }
}

/** The panel of the congestion window.
 *  @param {Scene<Gauged>} figure @param {number} height */
export function windowPanel(figure, height) {
  return new GaugesPanel(figure, "window (kB)", height, [
    { name: "bytes_in_flight", text: "bytes in flight", short: "in flight", colour: 5, isArea: true },
    { name: "ssthresh", text: "slow-start threshold", short: "ssthresh", colour: 4, dash: [4, 3], isBound: true },
    { name: "congestion_window", text: "congestion window", short: "window", colour: 1 },
  ], 1e3);
}

/** The two panels of a figure.
 *  @param {Scene<Gauged>} figure */
export function gaugePanels(figure) {
  return [
    windowPanel(figure, 130),
    new GaugesPanel(figure, "RTT (ms)", 90, [
      { name: "latest_rtt", text: "latest", colour: 5, isDots: true },
      { name: "min_rtt", text: "minimum", colour: 2, dash: [4, 3] },
      { name: "smoothed_rtt", text: "smoothed", colour: 0 },
    ], 1e6),
  ];
}
