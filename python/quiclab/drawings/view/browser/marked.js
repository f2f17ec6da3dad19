// What is marked in the figure: a packet with its copies, or a wait with the packets that it was for.

import { AXIS } from "./layout.js";
import { lowerBound } from "./search.js";

/** @import { Segment } from "./facts.js" */
/** @import { Frame } from "./frame.js" */
/** @import { Target } from "./panels.js" */
/** @import { Track } from "./track.js" */

/** Marks of found packets above their bars, not more than there are pixels.
 *  @param {Track} track @param {Frame} frame @param {Uint32Array} packets */
export function drawFound(track, frame, packets) {
  const { direction, time, sent, colours } = track;
  const { context } = frame;
  context.fillStyle = colours.palette[4];
  let at = lowerBound(packets, lowerBound(direction.sent, time.start));
  while (at < packets.length && direction.sent[packets[at]] <= time.end) {
    const x = Math.round(time.x(direction.sent[packets[at]]));
    context.fillRect(frame.left + x - 1, sent.top, 3, 5);
    frame.count++;
    // On to the first in another pixel.
    at = Math.max(at + 1, lowerBound(packets, lowerBound(direction.sent, time.time(x + 0.5)), at));
  }
}

/** Draws what belongs to a target: the way of its packets, and the span.
 *  @param {Track} figure @param {Frame} frame @param {Target} target */
export function drawMarked(figure, frame, target) {
  const { direction, time } = figure;
  const { context } = frame;
  context.lineWidth = 1.5;
  if (target.kind === "span") return drawSpan(figure, frame, target);
  if (target.kind === "segment") return drawSegment(figure, frame, target.segment);
  if (target.kind === "packet") {
    for (const packet of [target.packet, ...direction.again(target.packet)]) drawWay(figure, frame, packet);
  } else if (target.kind === "queued" || target.kind === "blocked") {
    const top = figure.rows.rowOf(target.stream);
    if (Number.isNaN(top)) return;
    const { waits, span } = target;
    const [from, to] = [time.x(waits.start[span]), time.x(waits.end[span])];
    context.strokeStyle = figure.colours.ink;
    context.strokeRect(frame.left + from - 1, top + 0.5, Math.max(3, to - from + 2), figure.rows.lane + 4);
  } else if (target.kind === "wait") {
    const { waits, span } = target;
    const copies = new Set([waits.missing[span], waits.filled[span]]);
    for (let packet = waits.missing[span], steps = 0; packet >= 0 && steps < 4; steps++) {
      const next = direction.again(packet).find((copy) => copy < waits.filled[span]);
      if (next === undefined) break;
      copies.add(next);
      packet = next;
    }
    for (const packet of copies) if (packet >= 0) drawWay(figure, frame, packet);
    const top = figure.rows.rowOf(waits.stream[span]);
    if (Number.isNaN(top)) return;
    const [from, to] = [time.x(waits.start[span]), time.x(waits.end[span])];
    const half = figure.rows.foot;
    context.strokeStyle = figure.colours.ink;
    context.strokeRect(frame.left + from - 1, top + half - 1, Math.max(3, to - from + 2), figure.rows.row - half + 1);
    if (waits.filled[span] >= 0) {
      // From the arrival of the packet down to the row that it frees.
      context.setLineDash([4, 2]);
      context.beginPath();
      context.moveTo(frame.left + to, figure.rows.top);
      context.lineTo(frame.left + to, top + half);
      context.stroke();
      context.setLineDash([]);
    }
  }
  context.lineWidth = 1;
}

/** A stretch of time over all panels.
 *  @param {Track} track @param {Frame} frame @param {Target & { kind: "span" }} span */
function drawSpan({ time, colours, figure }, frame, { start, end }) {
  const { context } = frame;
  const [from, to] = [frame.left + time.x(start), frame.left + time.x(end)];
  const top = figure.head;
  const bottom = figure.height - AXIS;
  context.fillStyle = context.strokeStyle = colours.palette[3];
  context.globalAlpha = 0.14;
  context.fillRect(from, top, Math.max(1, to - from), bottom - top);
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  for (const x of [from, to]) {
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, bottom);
    context.stroke();
  }
  context.lineWidth = 1;
}

/** The bar of a segment, and its time in the row of its stream.
 *  @param {Track} figure @param {Frame} frame @param {Segment} segment */
function drawSegment(figure, frame, segment) {
  const { context } = frame;
  if (!figure.segments) throw new Error("a segment is marked, but there is no player");
  const [from, to, top] = figure.segments.place(segment);
  context.strokeStyle = figure.colours.ink;
  context.strokeRect(frame.left + from - 1, top - 1, to - from + 1, 18);
  const stream = figure.direction.streams.findIndex((each) => each.id === segment.stream);
  const row = figure.direction.count ? figure.rows.rowOf(stream) : NaN;
  if (!Number.isNaN(row)) context.strokeRect(frame.left + from - 1, row + 0.5, to - from + 1, figure.rows.row - 1);
  context.lineWidth = 1;
}

/** A packet's bar and the line of its flight, with its number.
 *  @param {Track} figure @param {Frame} frame @param {number} packet */
function drawWay(figure, frame, packet) {
  const { direction, time, sent, flight, colours } = figure;
  const { context } = frame;
  const x = frame.left + time.x(direction.sent[packet]);
  context.lineWidth = 2;
  flight.line(frame, packet, colours.ink);
  context.beginPath();
  context.moveTo(x, sent.top + 26);
  context.lineTo(x, sent.top + sent.height + 10);
  context.stroke();
  context.lineWidth = 1.5;
  const text = `${direction.number[packet]}`;
  context.font = "600 11px system-ui, sans-serif";
  context.textAlign = "left";
  context.textBaseline = "top";
  const width = context.measureText(text).width;
  context.globalAlpha = 0.85;
  context.fillStyle = colours.panel;
  context.fillRect(x + 2, sent.top + sent.height - 5, width + 4, 14);
  context.globalAlpha = 1;
  context.fillStyle = colours.ink;
  context.fillText(text, x + 4, sent.top + sent.height - 4);
}
