// The panel of the whole time: how much was sent when, who waited when, and a window on what is shown below.

import { Raster } from "./raster.js";

/** @import { Colours } from "./colours.js" */
/** @import { Frame } from "./frame.js" */
/** @import { Direction } from "./model.js" */
/** @import { TimeAxis } from "./time.js" */
/** @import { Target } from "./panels.js" */

/** The whole time, however far the rest is zoomed. */
export class OverviewPanel {
  /** @param {{ time: TimeAxis, colours: Colours, tracks: { direction: Direction, offset: number }[] }} figure */
  constructor(figure) {
    this.figure = figure;
    this.top = 0;
    this.height = 40;
    this.title = "all";
    /** @type {Raster | null} */
    this.cache = null;
  }

  /** What is drawn once for each width, theme and choice of streams. */
  forget() {
    this.cache = null;
  }

  /** @param {number} time */
  #x(time) {
    const { least, most, width } = this.figure.time;
    return ((time - least) / (most - least)) * width;
  }

  /** The time at a pixel of this panel.
   *  @param {number} x */
  time(x) {
    const { least, most, width } = this.figure.time;
    return least + (x / width) * (most - least);
  }

  /** @param {Frame} frame */
  draw(frame) {
    const { time, colours } = this.figure;
    const { context } = frame;
    const width = Math.round(time.width * frame.ratio);
    if (!this.cache || this.cache.width !== width) this.cache = this.#paint(width, Math.round(this.height * frame.ratio), frame);
    frame.image(this.cache, this.top);
    frame.label(this, "");
    const [from, to] = [frame.left + this.#x(time.start), frame.left + this.#x(time.end)];
    context.globalAlpha = 0.6;
    context.fillStyle = colours.ground;
    context.fillRect(frame.left, this.top, from - frame.left, this.height);
    context.fillRect(to, this.top, frame.left + time.width - to, this.height);
    context.globalAlpha = 1;
    context.strokeStyle = colours.ink;
    context.strokeRect(from + 0.5, this.top + 0.5, Math.max(2, to - from - 1), this.height - 1);
    frame.count += 3;
  }

  /** @param {number} width @param {number} height @param {Frame} frame */
  #paint(width, height, frame) {
    const { tracks, colours } = this.figure;
    const raster = new Raster(width, height, colours.pixel(colours.panel));
    const ratio = frame.ratio;
    const foot = height - Math.round(8 * ratio);
    const sums = new Float64Array(width);
    const losses = new Uint8Array(width);
    const waits = new Uint8Array(width);
    for (const { direction, offset } of tracks) {
      /** @param {number} time */
      const place = (time) => Math.max(0, Math.floor(this.#x(time + offset) * ratio));
      for (let packet = 0; packet < direction.count; packet++) {
        const column = Math.min(width - 1, place(direction.sent[packet]));
        sums[column] += direction.bytes(packet);
        if (direction.isLost(packet)) losses[column] = 1;
      }
      for (let span = 0; span < direction.waits.count; span++) {
        if (!direction.streams[direction.waits.stream[span]].shown) continue;
        const from = place(direction.waits.start[span]);
        waits.fill(1, from, Math.max(from + 1, place(direction.waits.end[span])));
      }
    }
    const most = sums.reduce((one, other) => Math.max(one, other), 1);
    const [grey, ink, wait] = [colours.other, colours.ink, colours.soft].map((colour) => colours.pixel(colour));
    for (let x = 0; x < width; x++) {
      raster.rect(x, foot - Math.round((sums[x] / most) * foot), x + 1, foot, grey);
      if (losses[x]) raster.rect(x, 0, x + 1, Math.round(4 * ratio), ink);
      if (waits[x]) raster.rect(x, foot + Math.round(2 * ratio), x + 1, height - Math.round(ratio), wait);
    }
    return raster;
  }

  /** @returns {Target | undefined} */
  hit() {
    return undefined;
  }
}
