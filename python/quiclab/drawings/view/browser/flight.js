// The panel of packets on their way: a line from when each was sent to when it arrived.

import { lowerBound, upperBound } from "./search.js";

/** @import { Frame } from "./frame.js" */
/** @import { Scene, Target } from "./panels.js" */

/** Lines of the two panels around it. */
export class FlightPanel {
  /** @param {Scene} figure */
  constructor(figure) {
    this.figure = figure;
    this.top = 0;
    this.height = 64;
    this.title = "in flight";
  }

  /** @param {Frame} frame */
  draw(frame) {
    const { direction, time } = this.figure;
    frame.label(this, direction.facts.hasReceiver ? "" : "until acknowledged");
    const first = lowerBound(direction.sent, time.start - Math.max(direction.maxDelay, direction.typicalDelay));
    const last = upperBound(direction.sent, time.end);
    // Not more lines than every third pixel can show; the same ones while the picture moves.
    const step = Math.max(1, Math.ceil((last - first) / (time.width / 3)));
    frame.context.lineWidth = 1;
    frame.context.globalAlpha = step === 1 ? 0.75 : 0.45;
    for (let packet = Math.ceil(first / step) * step; packet < last; packet += step) {
      frame.visited++;
      if (direction.hasArrived(packet) && direction.received[packet] >= time.start) this.#way(frame, packet);
    }
    frame.context.globalAlpha = 1;
    this.#crosses(frame, first, last);
  }

  /** @param {Frame} frame @param {number} packet */
  #way(frame, packet) {
    const colour = this.colour(packet);
    if (colour !== null) this.line(frame, packet, colour);
    return colour !== null;
  }

  /** What did not arrive.
   *  @param {Frame} frame @param {number} first @param {number} last */
  #crosses(frame, first, last) {
    const { direction, time, colours } = this.figure;
    const { gone } = direction;
    const [from, to] = [lowerBound(gone, first), lowerBound(gone, last)];
    const step = Math.max(1, Math.ceil((to - from) / (time.width / 6)));
    for (let at = Math.ceil(from / step) * step; at < to; at += step) {
      frame.visited++;
      const [x, y] = this.#end(frame, gone[at]);
      if (x >= frame.left && this.#way(frame, gone[at])) frame.cross(x, y, 3, colours.ink);
    }
  }

  /** The colour of a packet: its first stream's; null if that is switched off.
   *  @param {number} packet */
  colour(packet) {
    const { direction, colours } = this.figure;
    if (direction.frameAt[packet] === direction.frameAt[packet + 1]) return colours.other;
    const stream = direction.streams[direction.frameStream[direction.frameAt[packet]]];
    return stream.shown ? colours.stream(stream.at) : null;
  }

  /** Draws the line of one packet.
   *  @param {Frame} frame @param {number} packet @param {string} colour */
  line(frame, packet, colour) {
    const { direction, time } = this.figure;
    const { context } = frame;
    const [x, y] = this.#end(frame, packet);
    context.strokeStyle = colour;
    context.beginPath();
    context.moveTo(frame.left + time.x(direction.sent[packet]), this.top);
    context.lineTo(x, y);
    context.stroke();
    frame.count++;
  }

  /** Where a packet's line ends: below, or, if it did not arrive, where it would have been a while later.
   *  @param {Frame} frame @param {number} packet */
  #end(frame, packet) {
    const { direction, time } = this.figure;
    if (direction.hasArrived(packet)) return [frame.left + time.x(direction.received[packet]), this.top + this.height];
    return [frame.left + time.x(direction.sent[packet] + 0.6 * direction.typicalDelay), this.top + 0.6 * this.height];
  }

  /** @param {number} x @param {number} y @returns {Target | undefined} */
  hit(x, y) {
    const { direction, time } = this.figure;
    const share = y / this.height;
    let best;
    let distance = 6;
    const first = lowerBound(direction.sent, time.time(x - 6) - Math.max(direction.maxDelay, direction.typicalDelay));
    const last = upperBound(direction.sent, time.time(x + 6));
    // Where lines cannot be told apart nobody is meant.
    if (last - first > 5000) return undefined;
    for (let packet = first; packet < last; packet++) {
      const arrived = direction.hasArrived(packet);
      if (!arrived && share > 0.65) continue;
      if (this.colour(packet) === null) continue;
      const way = (arrived ? direction.received[packet] - direction.sent[packet] : direction.typicalDelay) * share;
      const off = Math.abs(time.x(direction.sent[packet] + way) - x);
      if (off < distance) [best, distance] = [packet, off];
    }
    return best === undefined ? undefined : { kind: "packet", packet: best };
  }
}
