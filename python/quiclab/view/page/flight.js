// The panel of packets on their way: a line from when each was sent to when it arrived.

import { lowerBound, upperBound } from "./search.js";

/** Lines of the two panels around it. */
export class FlightPanel {
  constructor(figure) {
    this.figure = figure;
    this.height = 64;
    this.title = "in flight";
  }

  draw(frame) {
    const { direction, time, colours } = this.figure;
    frame.label(this, direction.facts.hasReceiver ? "" : "until acknowledged");
    const first = lowerBound(direction.sent, time.start - Math.max(direction.maxDelay, direction.typicalDelay));
    const last = upperBound(direction.sent, time.end);
    frame.visited += last - first;
    const visible = { lines: 0, crosses: 0 };
    for (let packet = first; packet < last; packet++) {
      if (this.#isVisible(packet)) visible[direction.hasArrived(packet) ? "lines" : "crosses"]++;
    }
    // Not more lines than every third pixel can show; the same ones while the picture moves.
    const step = Math.max(1, Math.ceil(visible.lines / (time.width / 3)));
    const stepLost = Math.max(1, Math.ceil(visible.crosses / (time.width / 6)));
    const alpha = step === 1 ? 0.75 : 0.45;
    let crosses = 0;
    frame.context.lineWidth = 1;
    for (let packet = first; packet < last; packet++) {
      if (!this.#isVisible(packet)) continue;
      const arrived = direction.hasArrived(packet);
      if (arrived ? packet % step : crosses++ % stepLost) continue;
      const colour = this.colour(packet);
      if (colour === null) continue;
      frame.context.globalAlpha = arrived ? alpha : 1;
      this.line(frame, packet, colour);
      frame.context.globalAlpha = 1;
      if (!arrived) frame.cross(...this.#end(frame, packet), 3, colours.ink);
    }
  }

  /** The colour of a packet: its first stream's; null if that is switched off. */
  colour(packet) {
    const { direction, colours } = this.figure;
    if (direction.frameAt[packet] === direction.frameAt[packet + 1]) return colours.other;
    const stream = direction.streams[direction.frameStream[direction.frameAt[packet]]];
    return stream.shown ? colours.stream(stream.at) : null;
  }

  /** Draws the line of one packet. */
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

  /** Where a packet's line ends: below, or, if it did not arrive, where it would have been a while later. */
  #end(frame, packet) {
    const { direction, time } = this.figure;
    if (direction.hasArrived(packet)) return [frame.left + time.x(direction.received[packet]), this.top + this.height];
    return [frame.left + time.x(direction.sent[packet] + 0.6 * direction.typicalDelay), this.top + 0.6 * this.height];
  }

  #isVisible(packet) {
    const { direction, time } = this.figure;
    if (direction.hasArrived(packet)) return direction.received[packet] >= time.start;
    // What was neither declared lost nor arrived is on its way at the end.
    return direction.sent[packet] + 0.6 * direction.typicalDelay >= time.start;
  }

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
