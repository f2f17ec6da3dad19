// The tip beside the pointer: the packet, the wait or the gauges there.

import { lowerBound } from "./search.js";
import { cause, duration, frames, integer, milliseconds, plural, rate, size, state } from "./text.js";

/** @import { Bottleneck } from "./bottleneck.js" */
/** @import { Segment } from "./facts.js" */
/** @import { Figure, Marked } from "./figure.js" */
/** @import { Direction } from "./model.js" */
/** @import { Target } from "./panels.js" */

/** What is at a point, of one kind.
 *  @template {Target["kind"]} Kind
 *  @typedef {Target & { kind: Kind }} Found */

/** A time as the axis shows it, in milliseconds.
 *  @param {{ clock: number }} direction @param {number} time */
function moment({ clock }, time) {
  return milliseconds(time + clock);
}

/** The lines of a tip: a heading and what is below it.
 *  @param {Direction} direction @param {Target} target */
export function describe(direction, target) {
  if (target.kind === "packet") return packetLines(direction, target.packet);
  if (target.kind === "packets") return packetsLines(direction, target);
  if (target.kind === "wait") return waitLines(direction, target);
  if (target.kind === "queued") return queuedLines(direction, target);
  if (target.kind === "blocked") return blockedLines(direction, target);
  if (target.kind === "segment") return segmentLines(direction, target.segment);
  if (target.kind === "span") return spanLines(direction, target);
  if (target.kind === "bottleneck") return bottleneckLines(target.bottleneck, target.time);
  return gaugeLines(direction, target.time);
}

/** A stretch of time.
 *  @param {Direction} direction @param {Found<"span">} span */
function spanLines(direction, { start, end, text }) {
  return [text, `from ${moment(direction, start)} to ${moment(direction, end)} ms (${duration(end - start)})`];
}

/** The bottleneck at a time.
 *  @param {Bottleneck} bottleneck @param {number} time */
function bottleneckLines(bottleneck, time) {
  const lines = [`${bottleneck.name} at ${moment(bottleneck, Math.max(0, time))} ms`];
  for (const name of ["capacity", "delivered"]) {
    const value = bottleneck.gauge(name, time);
    if (value !== undefined) lines.push(`${name} ${rate(value)}`);
  }
  const [packets, bytes] = ["packets", "bytes"].map((name) => bottleneck.gauge(name, time));
  if (packets !== undefined && bytes !== undefined) lines.push(`${plural(packets, "packet")} in the queue, ${integer(bytes)} B`);
  if (bottleneck.outagesWithin(time, time + 1).length) lines.push("an outage: it carries nothing");
  return lines;
}

/** The download of a segment.
 *  @param {Direction} direction @param {Segment} segment */
function segmentLines(direction, segment) {
  const what = segment.segment === null ? "initialization segment" : `segment ${segment.segment}`;
  const lines = [`${segment.kind}, ${what}: ${segment.outcome}`];
  lines.push(`representation ${segment.representation}, ${segment.bitrate} Mbit/s, ${size(segment.received)} of ${size(segment.size)}`);
  lines.push(`requested at ${moment(direction, segment.asked)} ms${segment.stream === null ? "" : `, stream ${segment.stream}`}`);
  if (segment.first !== null) lines.push(`first byte at ${moment(direction, segment.first)} ms`);
  if (segment.ended !== null) lines.push(`ended at ${moment(direction, segment.ended)} ms (after ${duration(segment.ended - segment.asked)})`);
  return lines;
}

/** The bytes of each stream in some packets, as lines, the most first.
 *  @param {Direction} direction @param {number} from @param {number} to */
function shares(direction, from, to) {
  const sums = new Map();
  for (let frame = direction.frameAt[from]; frame < direction.frameAt[to]; frame++) {
    const stream = direction.frameStream[frame];
    sums.set(stream, (sums.get(stream) ?? 0) + direction.frameLength[frame]);
  }
  const largest = [...sums].sort((one, other) => other[1] - one[1]);
  const lines = largest.slice(0, 8).map(([stream, bytes]) => `\u2022 ${direction.streams[stream].label}: ${size(bytes)}`);
  if (largest.length > 8) lines.push(`\u2022 and ${largest.length - 8} more streams`);
  return lines;
}

/** Data that waits at the sender: since when, and who was sent instead.
 *  @param {Direction} direction @param {Found<"queued">} queued */
function queuedLines(direction, { waits, span, stream, time }) {
  const lines = [`${direction.streams[stream].label} has data that waits to be sent`];
  lines.push(`up to ${size(waits.held[span])}, from ${moment(direction, waits.start[span])} to ${moment(direction, waits.end[span])} ms`);
  const [before, after] = direction.around(stream, time);
  const start = Math.max(waits.start[span], before < 0 ? -Infinity : direction.sent[before]);
  const end = Math.min(waits.end[span], after < 0 ? Infinity : direction.sent[after]);
  /** @param {number} packet */
  const name = (packet) => (packet < 0 ? "?" : direction.number[packet]);
  lines.push(`its packets around here: ${name(before)} and ${name(after)}, ${duration(end - start)} of waiting`);
  const first = Math.max(before + 1, lowerBound(direction.sent, start));
  const last = after < 0 ? lowerBound(direction.sent, end) : after;
  if (last > first) lines.push(`${integer(last - first)} ${last - first === 1 ? "packet" : "packets"} sent between them:`, ...shares(direction, first, last));
  else lines.push("nothing was sent between them");
  return [...lines, ...windowLines(direction, time)];
}

/** Whether the congestion window is full.
 *  @param {Direction} direction @param {number} time */
function windowLines(direction, time) {
  const [flight, window] = ["bytes_in_flight", "congestion_window"].map((name) => direction.gauge(name, time));
  if (flight === undefined || window === undefined) return [];
  return [`${size(flight)} in flight of a congestion window of ${size(window)}${flight + 1200 > window ? ": full" : ""}`];
}

/** A stream without credit.
 *  @param {Direction} direction @param {Found<"blocked">} blocked */
function blockedLines(direction, { waits, span, stream }) {
  const isConnection = waits.stream[span] === direction.streams.length;
  const length = duration(waits.end[span] - waits.start[span]);
  const [who, frame] = isConnection ? ["the connection", "DATA"] : [direction.streams[stream].label, "STREAM_DATA"];
  return [
    `${who} has no credit for ${length}`,
    `the receiver's limit of ${integer(waits.offset[span])} B is reached (${frame}_BLOCKED)`,
    `from ${moment(direction, waits.start[span])} ms until MAX_${frame} arrived at ${moment(direction, waits.end[span])} ms`,
  ];
}

/** @param {Direction} direction @param {number} packet */
function packetLines(direction, packet) {
  const { facts } = direction;
  const number = direction.number[packet];
  const kind = facts.kinds[direction.kind[packet]];
  const lines = [`${number < 0 ? "packet without number" : `packet ${number}`} (${kind}), ${state(direction, packet)}`];
  const bytes = direction.size[packet] >= 0 ? `, ${integer(direction.size[packet])} B` : "";
  lines.push(`${facts.hasSender ? "sent" : "arrived"} at ${moment(direction, direction.sent[packet])} ms${bytes}`);
  /** @param {string} name @param {Float64Array} column */
  const after = (name, column) => {
    if (!Number.isNaN(column[packet])) lines.push(`${name} at ${moment(direction, column[packet])} ms (after ${duration(column[packet] - direction.sent[packet])})`);
  };
  if (facts.hasReceiver && facts.hasSender) after("arrived", direction.received);
  after("acknowledged", direction.acknowledged);
  after("declared lost", direction.lost);
  const trigger = facts.triggers[direction.trigger[packet]];
  if (trigger) lines.push(`because of ${trigger.replace(/_/g, " ")}`);
  const copies = direction.again(packet);
  if (copies.length) {
    const names = Array.from(copies.subarray(0, 6), (copy) => `${direction.number[copy]}${direction.hasArrived(copy) ? "" : " (lost too)"}`);
    lines.push(`retransmitted as ${names.join(", ")}${copies.length > 6 ? ` and ${copies.length - 6} more` : ""}`);
  }
  if (direction.isAgain[packet]) lines.push("carries retransmitted bytes");
  const texts = frames(direction, packet);
  lines.push(...texts.slice(0, 14).map((text) => `\u2022 ${text}`));
  if (texts.length > 14) lines.push(`\u2022 and ${texts.length - 14} more frames`);
  return lines;
}

/** @param {Direction} direction @param {Found<"packets">} packets */
function packetsLines(direction, { from, to }) {
  let lost = 0;
  for (let packet = from; packet < to; packet++) if (direction.isLost(packet)) lost++;
  const lines = [`${integer(to - from)} packets in this pixel, ${integer(lost)} lost`];
  lines.push(`from ${moment(direction, direction.sent[from])} to ${moment(direction, direction.sent[to - 1])} ms: zoom in to see each`);
  return [...lines, ...shares(direction, from, to)];
}

/** @param {Direction} direction @param {Found<"wait">} wait */
function waitLines(direction, { waits, span }) {
  const label = direction.streams[waits.stream[span]].label;
  const length = duration(waits.end[span] - waits.start[span]);
  const isOne = waits === direction.one;
  const lines = [isOne ? `as one byte stream ${label} would have waited ${length}` : `${label} waits ${length}`];
  lines.push(`${isOne ? "first " : ""}for ${cause(direction, waits, span)}`);
  if (isOne && waits.missing[span] >= 0) {
    const carried = [];
    const missing = waits.missing[span];
    for (let frame = direction.frameAt[missing]; frame < direction.frameAt[missing + 1]; frame++) {
      carried.push(direction.streams[direction.frameStream[frame]].label);
    }
    lines.push(`which carries bytes of ${[...new Set(carried)].slice(0, 6).join(", ")}`);
  }
  lines.push(`from ${moment(direction, waits.start[span])} to ${moment(direction, waits.end[span])} ms`);
  lines.push(`${isOne ? "place" : "offset"} ${integer(waits.offset[span])} is missing; up to ${integer(waits.held[span])} B held back`);
  return lines;
}

/** @param {Direction} direction @param {number} time */
function gaugeLines(direction, time) {
  const lines = [`at ${moment(direction, Math.max(0, Math.round(time)))} ms`];
  /** @param {string} name @param {string} text @param {(value: number) => string} format */
  const add = (name, text, format) => {
    const value = direction.gauge(name, time);
    if (value !== undefined) lines.push(`${text} ${format(value)}`);
  };
  /** @param {number} value */
  const bytes = (value) => `${integer(value)} B`;
  add("congestion_window", "congestion window", bytes);
  add("bytes_in_flight", "bytes in flight", bytes);
  add("ssthresh", "slow-start threshold", bytes);
  add("pacing_rate", "pacing rate", rate);
  for (const [name, text] of [["latest_rtt", "latest RTT"], ["smoothed_rtt", "smoothed RTT"], ["min_rtt", "minimum RTT"]]) {
    add(name, text, (value) => `${milliseconds(value)} ms`);
  }
  return lines;
}

/** Shows the tip of a target near a place in the figure, or hides it.
 *  @param {HTMLElement} element @param {Figure} figure @param {Marked} [target] @param {number} [x]
 *  @param {number} [y] */
export function showTip(element, figure, target, x = 0, y = 0) {
  element.hidden = !target;
  if (!target) return;
  const [heading, ...rest] = describe(target.track.direction, target);
  const strong = document.createElement("strong");
  strong.textContent = heading;
  element.replaceChildren(strong, ...rest.map((line) => {
    const div = document.createElement("div");
    div.textContent = line;
    return div;
  }));
  const { offsetWidth, offsetHeight } = element;
  const left = x + 18 + offsetWidth > figure.width ? x - 14 - offsetWidth : x + 18;
  element.style.left = `${Math.max(0, left)}px`;
  element.style.top = `${Math.max(0, Math.min(y + 14, figure.height - offsetHeight))}px`;
}
