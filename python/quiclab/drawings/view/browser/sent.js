// The panel of what was sent: a bar for each packet in the colours of its streams; losses and retransmissions above it.

import { pixelEnd } from "./pyramid.js";
import { lowerBound, upperBound } from "./search.js";
import { size } from "./text.js";

/** @import { Frame } from "./frame.js" */
/** @import { Scene, Target } from "./panels.js" */
/** @import { Raster } from "./raster.js" */

/** The room for crosses, triangles and arcs, in pixels. */
const MARKS = 30;
/** The widest bar, in pixels. */
const WIDEST = 9;
/** Marks nearer than this to the one before are not drawn, in pixels. */
const MARK_GAP = 5;

/** Bars: left edge and width in device pixels, the packets from and to; the height of a byte, device pixels for each pixel.
 *  @typedef {{ left: number[], width: number[], from: number[], to: number[], scale: number, ratio: number }} Bars */

/** Packets as bars on the shared time axis. */
export class SentPanel {
  /** @param {Scene} figure */
  constructor(figure) {
    this.figure = figure;
    this.height = MARKS + 70;
    this.title = "sent";
    this.top = 0;
    /** The bars of the last drawing, the bytes of the highest, and how much was looked at for them.
     *  @type {Bars} */
    this.bars = { left: [], width: [], from: [], to: [], scale: 1, ratio: 1 };
    this.most = 0;
    this.visited = 0;
    /** The sums of streams and the colours of their pixels, one place behind: the first is for what belongs to none. */
    this.sums = new Float64Array(0);
    /** @type {number[]} */
    this.pixels = [];
  }

  /** Makes it lower. */
  shrink() {
    this.height = MARKS + 44;
  }

  /** @param {Frame} frame */
  draw(frame) {
    const { direction, time } = this.figure;
    const first = lowerBound(direction.sent, time.start);
    const last = upperBound(direction.sent, time.end);
    const raster = frame.raster(time.width, this.height - MARKS);
    this.#bars(raster, first, last, frame.ratio);
    frame.image(raster, this.top + MARKS);
    frame.visited += this.visited;
    this.#marks(frame, first, last);
    frame.label(this, this.most ? `bar: ${size(this.most)}` : "");
    if (!direction.count) frame.note(this, "no packets to show");
    else if (!direction.facts.hasSender) frame.note(this, "no log of the sender: times are those of the arrival");
  }

  /** Packets that share a pixel are one bar.
   *  @param {Raster} raster @param {number} first @param {number} last @param {number} ratio */
  #bars(raster, first, last, ratio) {
    const { direction, time } = this.figure;
    const { sent, weightTotal } = direction;
    /** @type {Bars} */
    const bars = { left: [], width: [], from: [], to: [], scale: 1, ratio };
    const [factor, start] = [raster.width / time.span, time.start];
    let most = 0;
    for (let from = first; from < last;) {
      const column = Math.floor((sent[from] - start) * factor);
      const to = pixelEnd(sent, from, last, start, factor);
      const sum = weightTotal[to] - weightTotal[from];
      bars.left.push(column);
      bars.from.push(from);
      bars.to.push(to);
      if (sum > most) most = sum;
      from = to;
    }
    bars.scale = most ? raster.height / most : 1;
    this.visited = bars.left.length;
    this.sums = new Float64Array(direction.streams.length + 1);
    this.pixels = [-1, ...direction.streams.keys()].map((at) => this.#pixel(at));
    const widest = Math.round(WIDEST * ratio);
    for (let bar = 0; bar < bars.left.length; bar++) {
      const gap = (bar + 1 < bars.left.length ? bars.left[bar + 1] : raster.width) - bars.left[bar];
      bars.width.push(gap <= 2 ? Math.min(gap, 1) : Math.min(widest, gap - 1));
      this.#stack(raster, bars, bar);
    }
    this.bars = bars;
    this.most = most;
  }

  /** @param {number} at */
  #pixel(at) {
    const { direction, colours } = this.figure;
    return colours.pixel(at >= 0 && direction.streams[at].shown ? colours.stream(at) : colours.other);
  }

  /** One bar from the bottom up: packet by packet where they can be told apart, else stream by stream.
   *  @param {Raster} raster @param {Bars} bars @param {number} bar */
  #stack(raster, bars, bar) {
    const { direction, colours } = this.figure;
    const [from, to] = [bars.from[bar], bars.to[bar]];
    // The streams' places, one more than they are; 0 is for what belongs to none.
    /** @type {{ places: number[], parts: number[], losses: boolean[] }} */
    const { places, parts, losses } = { places: [], parts: [], losses: [] };
    if (to - from <= 8) {
      this.visited += to - from;
      for (let packet = from; packet < to; packet++) {
        direction.parts(packet, (at, bytes) => {
          places.push(at + 1);
          parts.push(bytes);
          losses.push(direction.isLost(packet));
        });
      }
    } else {
      const { sums } = this;
      this.visited += direction.shares.of(from, to, (place, bytes) => {
        if (sums[place] === 0) places.push(place);
        sums[place] += bytes;
      });
      // More streams than pixels have no order that could be seen.
      if (places.length < raster.height) places.sort((one, other) => one - other);
      for (const place of places) {
        parts.push(sums[place]);
        sums[place] = 0;
      }
    }
    const left = bars.left[bar];
    const right = left + bars.width[bar];
    let bytes = 0;
    let low = raster.height;
    for (let at = 0; at < places.length; at++) {
      bytes += parts[at];
      const high = Math.min(raster.height - Math.round(bytes * bars.scale), raster.height - 2);
      if (high >= low) continue;
      if (losses[at] && bars.width[bar] > 2) {
        raster.rect(left, high, right, low, colours.pixel(colours.panel));
        raster.hatch(left, high, right, low, this.pixels[places[at]], 4);
      } else {
        raster.rect(left, high, right, low, this.pixels[places[at]]);
      }
      low = high;
    }
    // Packets that stand on each other are told apart by a line.
    if (to - from <= 8 && bars.width[bar] > 3) {
      let sum = 0;
      for (let packet = from; packet + 1 < to; packet++) {
        sum += direction.weight[packet];
        const line = raster.height - Math.round(sum * bars.scale);
        raster.rect(bars.left[bar], line, right, line + 1, colours.pixel(colours.panel));
      }
    }
  }

  /** @param {Frame} frame @param {number} first @param {number} last */
  #marks(frame, first, last) {
    const { direction, time, colours } = this.figure;
    const { context } = frame;
    const base = this.top + MARKS - 6;
    let [lastCross, lastTriangle, lastArc] = [-Infinity, -Infinity, -Infinity];
    context.strokeStyle = context.fillStyle = colours.ink;
    const { marked } = direction;
    for (let at = lowerBound(marked, first); at < marked.length && marked[at] < last; at++) {
      const packet = marked[at];
      const lost = direction.isLost(packet);
      frame.visited++;
      const x = frame.left + time.x(direction.sent[packet]);
      if (lost && x - lastCross >= MARK_GAP) {
        frame.cross(x, base, 3, colours.ink);
        lastCross = x;
      }
      if (direction.isAgain[packet] && x - lastTriangle >= MARK_GAP) {
        frame.triangle(x, base - 9, colours.ink);
        lastTriangle = x;
      }
      if (!lost || x - lastArc < MARK_GAP) continue;
      const copy = direction.again(packet)[0];
      if (copy === undefined) continue;
      const to = frame.left + time.x(direction.sent[copy]);
      if (to - x < MARK_GAP) continue;
      frame.arc(x, base - 4, to, base - 12, this.top + 3, colours.soft);
      lastArc = x;
    }
  }

  /** The packet at a point of the panel; undefined if there is none.
   *  @param {number} x @param {number} y @returns {Target | undefined} */
  hit(x, y) {
    const { direction } = this.figure;
    const { bars } = this;
    const column = x * bars.ratio;
    let bar = upperBound(bars.left, column) - 1;
    const reach = 6 * bars.ratio;
    /** @param {number} at */
    const distance = (at) => (at < 0 || at >= bars.left.length ? Infinity
      : Math.max(bars.left[at] - column, column - bars.left[at] - bars.width[at], 0));
    if (distance(bar + 1) < distance(bar)) bar++;
    if (!(distance(bar) <= reach)) return undefined;
    let packet = bars.from[bar];
    const count = bars.to[bar] - packet;
    if (count > 8) return { kind: "packets", from: packet, to: bars.to[bar] };
    let left = ((this.height - y) * bars.ratio) / bars.scale;
    while (packet + 1 < bars.to[bar] && left > direction.weight[packet]) left -= direction.weight[packet++];
    return { kind: "packet", packet };
  }
}
