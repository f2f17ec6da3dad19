// The time axis that all panels share: the visible range, zoom and pan, ticks.

import { fixed } from "./text.js";

/** The shortest range that can be seen, in nanoseconds. */
const SHORTEST = 200;

/** @typedef {TimeAxis | ShiftedAxis} Axis */

/** A range of time on a number of pixels. */
export class TimeAxis {
  /** @param {number} duration */
  constructor(duration) {
    // A little room on both sides: a packet at the very start or end is seen whole.
    this.least = -duration * 0.01;
    this.most = Math.max(duration * 1.01, 1000);
    this.width = 1;
    this.start = this.least;
    this.end = this.most;
  }

  reset() {
    [this.start, this.end] = [this.least, this.most];
  }

  get span() {
    return this.end - this.start;
  }

  /** Where a time is, in pixels.
   *  @param {number} time */
  x(time) {
    return ((time - this.start) / this.span) * this.width;
  }

  /** The time at a pixel.
   *  @param {number} x */
  time(x) {
    return this.start + (x / this.width) * this.span;
  }

  /** Shows this range, or what of it there is.
   *  @param {number} start @param {number} end */
  show(start, end) {
    const span = Math.min(Math.max(end - start, SHORTEST), this.most - this.least);
    const middle = (start + end) / 2;
    this.start = Math.min(Math.max(middle - span / 2, this.least), this.most - span);
    this.end = this.start + span;
  }

  /** Zooms by a factor, over 1 for a shorter range; what is at the pixel stays there.
   *  @param {number} factor @param {number} x */
  zoom(factor, x) {
    const fixed = this.time(x);
    const span = Math.min(Math.max(this.span / factor, SHORTEST), this.most - this.least);
    const start = fixed - (x / this.width) * span;
    this.show(start, start + span);
  }

  /** Moves by pixels.
   *  @param {number} x */
  pan(x) {
    const by = (x / this.width) * this.span;
    const span = this.span;
    this.start = Math.min(Math.max(this.start + by, this.least), this.most - span);
    this.end = this.start + span;
  }

  /** Ticks about every 90 pixels: their times and texts, and the unit. */
  ticks() {
    const step = niceStep(this.span / Math.max(4, this.width / 90));
    const [unit, factor] = step >= 5e7 ? ["s", 1e9] : ["ms", 1e6];
    const digits = Math.min(6, decimals(step / factor));
    const ticks = [];
    for (let at = Math.ceil(this.start / step); at * step <= this.end; at++) {
      const time = at * step;
      ticks.push({ time, text: fixed(time / factor, digits) });
    }
    return { ticks, unit };
  }
}

/** The time axis as a clock sees it that is behind by an offset. */
export class ShiftedAxis {
  /** @param {TimeAxis} axis @param {number} offset */
  constructor(axis, offset) {
    this.axis = axis;
    this.offset = offset;
  }

  get start() {
    return this.axis.start - this.offset;
  }

  get end() {
    return this.axis.end - this.offset;
  }

  get least() {
    return this.axis.least - this.offset;
  }

  get most() {
    return this.axis.most - this.offset;
  }

  get span() {
    return this.axis.span;
  }

  get width() {
    return this.axis.width;
  }

  /** @param {number} time */
  x(time) {
    return this.axis.x(time + this.offset);
  }

  /** @param {number} x */
  time(x) {
    return this.axis.time(x) - this.offset;
  }

  /** @param {number} start @param {number} end */
  show(start, end) {
    this.axis.show(start + this.offset, end + this.offset);
  }
}

/** How many decimals the multiples of a step have.
 *  @param {number} step */
export function decimals(step) {
  return Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
}

/** The next of 1, 2, 5, 10, 20 ... that is not smaller.
 *  @param {number} least */
export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10);
}
