// The panel of the receiver: a row for each stream, with the arrival of its bytes and what it waited for.

import { mix } from "./colours.js";
import { pixelEnd } from "./pyramid.js";
import { lowerBound, nearest, upperBound } from "./search.js";

/** @import { Frame } from "./frame.js" */
/** @import { Stream, Waits } from "./model.js" */
/** @import { Scene, Target } from "./panels.js" */
/** @import { Raster } from "./raster.js" */

const TALLEST = 40;
const LOWEST = 5;
/** So many rows have at least this height. */
const MOST_WHOLE = 24;
const LEGIBLE = 20;
/** The widest mark of an arrival, in pixels. */
const WIDE = 7;

/** The bytes that arrived, by column of pixels.
 *  @typedef {{ columns: number[], sums: number[] }} Bins */

/** A wait with room for a text, in device pixels.
 *  @typedef {{ from: number, to: number, span: number, y: number }} Label */

/** Rows that scroll if they are many. */
export class RowsPanel {
  /** @param {Scene & { compares: boolean }} figure */
  constructor(figure) {
    this.figure = figure;
    this.height = 200;
    this.title = "";
    this.scroll = 0;
    this.top = 0;
    /** The streams that have a row, and the height of each.
     *  @type {Stream[]} */
    this.rows = [];
    this.row = 0;
    /** The height of the line above each row for what waits at the sender. */
    this.lane = 0;
    /** The most bytes that arrived in a pixel. */
    this.most = 0;
  }

  /** The streams that are switched on. */
  get streams() {
    return this.figure.direction.streams.filter((stream) => stream.shown);
  }

  /** The height that all rows would like to have.
   *  @param {number} count */
  wish(count) {
    return Math.max(count, 1) * TALLEST;
  }

  /** The height below which rows could not be told apart: so much there is even if the page must be scrolled for it.
   *  @param {number} count */
  need(count) {
    return Math.max(120, Math.min(count, MOST_WHOLE) * LEGIBLE);
  }

  /** Divides the height among the rows; what does not fit is reached by scrolling. */
  #layout() {
    this.rows = this.streams;
    this.row = Math.max(LOWEST, Math.min(TALLEST, Math.floor(this.height / Math.max(1, this.rows.length))));
    this.lane = !this.figure.direction.hasSending ? 0 : this.row >= 30 ? 6 : this.row >= 12 ? 3 : this.row >= 8 ? 2 : 0;
    this.scrollBy(0);
  }

  /** Moves the rows by pixels.
   *  @param {number} pixels */
  scrollBy(pixels) {
    const most = Math.max(0, this.rows.length * this.row - this.height);
    this.scroll = Math.min(Math.max(this.scroll + pixels, 0), most);
  }

  /** @param {Frame} frame */
  draw(frame) {
    const { time } = this.figure;
    this.#layout();
    const raster = frame.raster(time.width, this.height);
    const first = Math.floor(this.scroll / this.row);
    const last = Math.min(this.rows.length, Math.ceil((this.scroll + this.height) / this.row));
    const bins = this.#bins(raster, first, last, frame);
    /** @type {Label[]} */
    const labels = [];
    for (let row = first; row < last; row++) {
      const top = row * this.row - this.scroll;
      this.#waits(raster, frame, this.rows[row].at, top, labels);
      this.#arrivals(raster, frame, bins[row - first], this.rows[row].at, top);
      if (this.lane) this.#sending(raster, frame, this.rows[row].at, top);
      if (this.row >= 12) this.#separator(raster, frame, top);
    }
    frame.image(raster, this.top);
    this.#labels(frame, labels);
    frame.later(() => this.#names(frame, first, last));
    if (!this.rows.length) frame.note(this, this.figure.direction.streams.length ? "all streams are switched off" : "no stream data in this direction");
    else if (!this.figure.direction.facts.hasReceiver) frame.note(this, "no log of the receiver: arrivals are shown when the sender learned of them");
  }

  /** How far below the top of a row its waits begin, in pixels. */
  get foot() {
    const [, foot] = this.#halves(0, 1);
    return foot;
  }

  /** The room of a row's two halves, in device pixels: top of the arrivals, their foot, the end of the waits.
   *  @param {number} top @param {number} ratio */
  #halves(top, ratio) {
    const padding = this.row >= 12 ? 2 : 0;
    const start = Math.round((top + padding + (this.lane ? this.lane + (padding ? 1 : 0) : 0)) * ratio);
    const end = Math.round((top + this.row - padding) * ratio);
    return [start, start + Math.ceil((end - start) * 0.55), end];
  }

  /** The bytes that arrived, by row and column of pixels.
   *  @param {Raster} raster @param {number} first @param {number} last @param {Frame} frame */
  #bins(raster, first, last, frame) {
    const { direction, time } = this.figure;
    const factor = raster.width / time.span;
    const { arrivalTime, arrivalTotal } = direction;
    const left = time.start;
    let most = 0;
    /** @type {Bins[]} */
    const bins = [];
    for (let row = first; row < last; row++) {
      const stream = this.rows[row].at;
      const [from, to] = [direction.arrivalAt[stream], direction.arrivalAt[stream + 1]];
      const start = lowerBound(direction.arrivalTime, time.start, from, to);
      const end = upperBound(direction.arrivalTime, time.end, from, to);
      /** @type {Bins} */
      const { columns, sums } = { columns: [], sums: [] };
      for (let at = start; at < end;) {
        const column = Math.floor((arrivalTime[at] - left) * factor);
        const next = pixelEnd(arrivalTime, at, end, left, factor);
        const sum = arrivalTotal[next] - arrivalTotal[at];
        at = next;
        frame.visited++;
        columns.push(column);
        sums.push(sum);
        if (sum > most) most = sum;
      }
      bins.push({ columns, sums });
    }
    this.most = most;
    return bins;
  }

  /** @param {Raster} raster @param {Frame} frame @param {Bins} bins @param {number} stream @param {number} top */
  #arrivals(raster, frame, { columns, sums }, stream, top) {
    const { colours } = this.figure;
    const [head, foot] = this.#halves(top, frame.ratio);
    const colour = colours.pixel(colours.stream(stream));
    const widest = Math.round(WIDE * frame.ratio);
    for (let at = 0; at < columns.length; at++) {
      const gap = (at + 1 < columns.length ? columns[at + 1] : raster.width) - columns[at];
      const height = Math.max(Math.min(2, foot - head), Math.round((foot - head) * (sums[at] / (this.most || 1))));
      raster.rect(columns[at], foot - height, columns[at] + (gap <= 2 ? 1 : Math.min(widest, gap - 1)), foot, colour);
    }
  }

  /** Above the arrivals: data that waits at the sender, and in it, darker, the time without credit.
   *  @param {Raster} raster @param {Frame} frame @param {number} stream @param {number} top */
  #sending(raster, frame, stream, top) {
    const { direction, colours } = this.figure;
    const { queued, blocked } = direction;
    const head = Math.round((top + (this.row >= 12 ? 2 : 0)) * frame.ratio);
    const foot = head + Math.max(1, Math.round(this.lane * frame.ratio));
    const colour = colours.pixel(mix(colours.stream(stream), colours.panel, 0.5));
    this.#spans(raster, frame, queued, stream, (from, to) => raster.rect(from, head, to, foot, colour));
    const ink = colours.pixel(colours.ink);
    /** @param {number} from @param {number} to */
    const draw = (from, to) => raster.rect(from, head, Math.max(from + 1, to), foot, ink);
    this.#spans(raster, frame, blocked, stream, draw);
    // The connection's credit holds up those that have something to send.
    if (direction.streams[stream].id < 0) return;
    this.#spans(raster, frame, blocked, direction.streams.length, (from, to) => {
      if (!direction.facts.hasWritten) draw(from, to);
      else this.#spans(raster, frame, queued, stream, (start, end) => {
        if (Math.max(start, from) < Math.min(end, to)) draw(Math.max(start, from), Math.min(end, to));
      }, from, to);
    });
  }

  /** @param {Raster} raster @param {Frame} frame @param {number} stream @param {number} top @param {Label[]} labels */
  #waits(raster, frame, stream, top, labels) {
    const { direction, colours, compares } = this.figure;
    const [, foot, end] = this.#halves(top, frame.ratio);
    if (compares) {
      const colour = colours.pixel(colours.hatch);
      this.#spans(raster, frame, direction.one, stream, (from, to) => raster.hatch(from, foot, to, end, colour, 4));
    }
    const colour = colours.pixel(colours.stream(stream));
    const ground = colours.pixel(colours.panel);
    this.#spans(raster, frame, direction.waits, stream, (from, to, span) => {
      raster.rect(from, foot, to, end, ground);
      raster.rect(from, foot + (end - foot > 4 ? 1 : 0), Math.max(from + 1, to - (to - from > 4 ? 1 : 0)), end, colour);
      if (span >= 0 && this.row >= 22 && to - from > 70 * frame.ratio) labels.push({ from, to, span, y: (foot + end) / 2 });
    });
  }

  /** Visible spans, those that touch each other's pixel as one.
   *  @param {Raster} raster @param {Frame} frame @param {Waits} waits @param {number} stream
   *  @param {(from: number, to: number, span: number) => void} add @param {number} [left] @param {number} [right] */
  #spans(raster, frame, waits, stream, add, left = 0, right = raster.width) {
    const { time } = this.figure;
    const factor = raster.width / time.span;
    const last = waits.at[stream + 1];
    /** @type {[from: number, to: number, span: number] | null} */
    let open = null;
    let span = lowerBound(waits.end, time.start + left / factor, waits.at[stream], last);
    const end = right >= raster.width ? time.end : time.start + right / factor;
    for (; span < last && waits.start[span] <= end; span++) {
      frame.visited++;
      const from = Math.floor((waits.start[span] - time.start) * factor);
      const to = Math.max(from + 1, Math.floor((waits.end[span] - time.start) * factor));
      if (open && from <= open[1] && to - from <= 2) open = [open[0], Math.max(to, open[1]), -1];
      else {
        if (open) add(...open);
        open = [from, to, span];
      }
    }
    if (open) add(...open);
  }

  /** @param {Raster} raster @param {Frame} frame @param {number} top */
  #separator(raster, frame, top) {
    const { colours } = this.figure;
    const line = Math.round((top + this.row) * frame.ratio);
    raster.rect(0, line - 1, raster.width, line, colours.pixel(colours.grid));
  }

  /** The missing packet and the one that ended the wait, on the bar.
   *  @param {Frame} frame @param {Label[]} labels */
  #labels(frame, labels) {
    const { direction, colours } = this.figure;
    const { context } = frame;
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    for (const { from, to, span, y } of labels) {
      context.fillStyle = colours.on(colours.stream(direction.waits.stream[span]));
      const [missing, filled] = [direction.waits.missing[span], direction.waits.filled[span]];
      /** @param {number} packet */
      const name = (packet) => (packet < 0 ? "?" : direction.number[packet]);
      const text = missing === filled ? `${name(missing)} late` : `${name(missing)} \u2192 ${name(filled)}`;
      const left = Math.max(from / frame.ratio, 0);
      const right = Math.min(to / frame.ratio, this.figure.time.width);
      if (context.measureText(text).width + 8 > right - left) continue;
      context.fillText(text, frame.left + left + 4, this.top + y / frame.ratio + 0.5);
      frame.count++;
    }
  }

  /** @param {Frame} frame @param {number} first @param {number} last */
  #names(frame, first, last) {
    const { colours } = this.figure;
    const { context } = frame;
    context.save();
    context.beginPath();
    context.rect(0, this.top, frame.left, this.height);
    context.clip();
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    const every = Math.max(1, Math.ceil(13 / this.row));
    for (let row = first; row < last; row++) {
      const y = this.top + (row + 0.5) * this.row - this.scroll;
      context.fillStyle = colours.stream(this.rows[row].at);
      context.fillRect(frame.left - 6, y - this.row / 2 + 1, 4, Math.max(2, this.row - 2));
      if (row % every === 0) {
        context.fillStyle = colours.ink;
        // The first name is whole even where its row is lower than it.
        context.fillText(this.rows[row].label, frame.left - 10, Math.max(y, this.top + 6));
      }
      frame.count += 2;
    }
    context.restore();
    const total = this.rows.length * this.row;
    if (total > this.height) {
      context.fillStyle = colours.soft;
      const length = Math.max(20, (this.height * this.height) / total);
      context.fillRect(1, this.top + (this.scroll / (total - this.height)) * (this.height - length), 4, length);
      frame.count++;
    }
  }

  /** What is at a point: an arrival above, a wait below.
   *  @param {number} x @param {number} y @returns {Target | undefined} */
  hit(x, y) {
    const { direction, time, compares } = this.figure;
    const row = Math.floor((y + this.scroll) / this.row);
    const stream = this.rows[row];
    if (!stream) return undefined;
    const within = y + this.scroll - row * this.row;
    if (this.lane && within < this.lane + (this.row >= 12 ? 3 : 0)) {
      const found = this.#hitSending(stream.at, time.time(x), (3 / time.width) * time.span);
      if (found) return found;
    }
    const isLower = within > this.foot;
    const [at, slack] = [time.time(x), (3 / time.width) * time.span];
    if (isLower) {
      const span = direction.waits.find(stream.at, at, slack);
      if (span >= 0) return { kind: "wait", waits: direction.waits, span };
      const other = compares ? direction.one.find(stream.at, at, slack) : -1;
      if (other >= 0) return { kind: "wait", waits: direction.one, span: other };
    }
    const arrival = nearest(direction.arrivalTime, at, direction.arrivalAt[stream.at], direction.arrivalAt[stream.at + 1]);
    if (arrival < 0 || Math.abs(time.x(direction.arrivalTime[arrival]) - x) > 6) return undefined;
    return { kind: "packet", packet: direction.framePacket[direction.arrivalFrame[arrival]] };
  }

  /** What waits at the sender at a time: credit before all else.
   *  @param {number} stream @param {number} at @param {number} slack @returns {Target | undefined} */
  #hitSending(stream, at, slack) {
    const { direction } = this.figure;
    const { queued, blocked } = direction;
    const span = queued.find(stream, at, slack);
    const own = blocked.find(stream, at, slack);
    if (own >= 0) return { kind: "blocked", waits: blocked, span: own, stream };
    const all = blocked.find(direction.streams.length, at, slack);
    if (all >= 0 && (span >= 0 || !direction.facts.hasWritten) && direction.streams[stream].id >= 0) {
      return { kind: "blocked", waits: blocked, span: all, stream };
    }
    return span >= 0 ? { kind: "queued", waits: queued, span, stream, time: at } : undefined;
  }

  /** The top of a stream's row in the figure; NaN if it is not visible.
   *  @param {number} stream */
  rowOf(stream) {
    const row = this.rows.findIndex((entry) => entry.at === stream);
    const top = row * this.row - this.scroll;
    return row < 0 || top < -this.row || top > this.height ? NaN : this.top + top;
  }

  /** Scrolls until a stream's row is visible.
   *  @param {number} stream */
  reveal(stream) {
    const top = this.streams.findIndex((entry) => entry.at === stream) * this.row;
    if (!this.row || top < 0) return;
    if (top < this.scroll) this.scroll = top;
    else if (top + this.row > this.scroll + this.height) this.scroll = top + this.row - this.height;
  }
}
