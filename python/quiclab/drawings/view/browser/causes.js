// The panel of what a flow waited for: a band for each time, in the colour of its cause.

import { mix } from "./colours.js";
import { lowerBound, upperBound } from "./search.js";

/** @import { Frame } from "./frame.js" */
/** @import { Scene, Why, Target } from "./panels.js" */

/** The causes that the network has, those of windows and pacers, and those of the ends, by the place in the palette.
 *  @type {Record<string, [place: number, pale: number]>} */
const CAUSE_COLOURS = {
  "outage": [1, 0], "capacity": [1, 0.35], "competition": [1, 0.6], "timeout": [3, 0], "recovery": [3, 0.35],
  "reordering": [3, 0.5], "corruption": [3, 0.65], "middlebox": [3, 0.8], "idle timeout": [3, 0.8],
  "return path": [0, 0.2], "ACK delay": [0, 0.6], "processing": [1, 0.8], "path validation": [4, 0.1], "scheduler": [2, 0.2],
  "slow start": [5, 0], "window": [0, 0], "pacer": [0, 0.4],
  "handshake": [4, 0], "stream credit": [4, 0.25], "connection credit": [4, 0.4], "stream count": [4, 0.55],
  "send queue": [2, 0], "delivery": [2, 0.35], "application": [2, 0.6],
};

/** Bands on the shared time axis. */
export class CausesPanel {
  /** @param {Scene} figure @param {Why} why */
  constructor(figure, why) {
    this.figure = figure;
    this.why = why;
    this.top = 0;
    this.height = 18;
    this.title = "waits for";
  }

  /** The colour of a cause.
   *  @param {string} name */
  colour(name) {
    const { colours } = this.figure;
    const [place, pale] = CAUSE_COLOURS[name] ?? [0, 0.6];
    return mix(colours.palette[place], colours.panel, pale);
  }

  /** @param {Frame} frame */
  draw(frame) {
    const { why } = this;
    const { time, colours } = this.figure;
    const { start, end, cause } = why.spans;
    const { context } = frame;
    frame.label(this, "");
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    // What ends in a pixel that is drawn already is not seen.
    let drawn = -Infinity;
    for (let at = lowerBound(end, time.start); at < start.length && start[at] <= time.end; at++) {
      frame.visited++;
      const [from, to] = [Math.max(0, time.x(start[at])), Math.min(time.width, time.x(end[at]))];
      if (to <= drawn) continue;
      const right = Math.max(to, Math.floor(from) + 1);
      const name = why.names[cause[at]];
      context.fillStyle = this.colour(name);
      context.fillRect(frame.left + from, this.top, right - from, this.height);
      drawn = right;
      frame.count++;
      if (context.measureText(name).width + 8 > to - from) continue;
      context.fillStyle = colours.on(this.colour(name));
      context.fillText(name, frame.left + from + 4, this.top + this.height / 2 + 0.5);
      frame.count++;
    }
  }

  /** @param {number} x @returns {Target | undefined} */
  hit(x) {
    const { why } = this;
    const { time } = this.figure;
    const { start, end, cause } = why.spans;
    const at = upperBound(start, time.time(x)) - 1;
    if (at < 0 || end[at] < time.time(x)) return undefined;
    const name = why.names[cause[at]];
    const told = [...why.causes, ...why.beside].find((each) => each.name === name);
    return { kind: "span", start: start[at], end: end[at], text: told ? `${name}: ${told.what}` : name };
  }
}
