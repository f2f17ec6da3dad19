// The longest times in which no stream was delivered anything, and why.

import { lowerBound, upperBound } from "./search.js";
import { cause, duration, integer, plural, size } from "./text.js";

/** @import { Direction } from "./model.js" */
/** @import { Track } from "./track.js" */

/** So many packets of a stall are looked at, at most. */
const MOST_LOOKED_AT = 50000;
/** So many packets before one are looked at for an acknowledgement. */
const MOST_IN_FLIGHT = 1000;

/** When bytes of streams could be delivered: in order, as their packets arrived; and whether all were.
 *  @param {Direction} direction */
export function deliveries(direction) {
  const expected = new Float64Array(direction.streams.length);
  /** Of each stream what has arrived behind a hole, as [from, to] in order.
   *  @type {[from: number, to: number][][]} */
  const behind = direction.streams.map(() => []);
  const times = [];
  for (const packet of direction.arrived) {
    let isDelivered = false;
    for (let frame = direction.frameAt[packet]; frame < direction.frameAt[packet + 1]; frame++) {
      const at = direction.frameStream[frame];
      const [from, length] = [direction.frameOffset[frame], direction.frameLength[frame]];
      if (direction.streams[at].id < 0) isDelivered = true;
      else if (from + length > expected[at]) {
        if (from > expected[at]) insert(behind[at], from, from + length);
        else {
          isDelivered = true;
          expected[at] = from + length;
          for (let next = behind[at][0]; next && next[0] <= expected[at]; next = behind[at][0]) {
            expected[at] = Math.max(expected[at], next[1]);
            behind[at].shift();
          }
        }
      }
    }
    if (isDelivered) times.push(direction.received[packet]);
  }
  const isWhole = direction.streams.every((stream) => stream.id < 0 || expected[stream.at] >= stream.bytes);
  return { times: Float64Array.from(times), isWhole };
}

/** Puts a part into parts that are in order.
 *  @param {[from: number, to: number][]} parts @param {number} from @param {number} to */
function insert(parts, from, to) {
  let at = parts.length;
  while (at > 0 && parts[at - 1][0] > from) at--;
  parts.splice(at, 0, [from, to]);
}

/** The longest stalls of a track, the longest first: start, end and the reason. Shorter than a round trip is none.
 *  @param {Track} track @param {number} most */
export function longestStalls(track, most) {
  const { direction } = track;
  if (!direction.count) return [];
  direction.deliveries ??= deliveries(direction);
  const { times, isWhole } = direction.deliveries;
  const least = 2 * direction.typicalDelay;
  /** @type {[start: number, end: number][]} */
  const spans = [];
  /** @param {number} start @param {number} end */
  const add = (start, end) => {
    if (end - start > least) spans.push([start, end]);
  };
  for (let at = 0; at < times.length; at++) add(at ? times[at - 1] : 0, times[at]);
  if (!isWhole || !times.length) add(times.at(-1) ?? 0, direction.duration);
  const longest = spans.sort((one, other) => other[1] - other[0] - one[1] + one[0]).slice(0, most);
  return longest.map(([start, end]) => ({ start, end, reason: reason(track, start, end) }));
}

/** Why nothing was delivered in a time.
 *  @param {Track} track @param {number} start @param {number} end */
function reason(track, start, end) {
  const { direction } = track;
  const found = [
    outage(track, start, end), start === 0 ? "before the first data" : null, credit(direction, start, end),
    missing(direction, end), ...sending(direction, start, end),
  ].filter(Boolean);
  return found.length ? found.join("; ") : silence(direction, start, end);
}

/** How much of a time the link carried nothing.
 *  @param {Track} track @param {number} start @param {number} end */
function outage({ link, offset }, start, end) {
  if (!link) return null;
  const by = offset - link.offset;
  const spans = link.direction.outagesWithin(start + by, end + by);
  const lasted = spans.reduce((sum, [from, to]) => sum + Math.min(to, end + by) - Math.max(from, start + by), 0);
  return lasted > 0 ? `outage of ${link.direction.name} for ${duration(lasted)}` : null;
}

/** The flow-control credit that was missing for half of a time or more.
 *  @param {Direction} direction @param {number} start @param {number} end */
function credit(direction, start, end) {
  const { blocked, streams } = direction;
  for (let at = streams.length; at >= 0; at--) {
    let lacked = 0;
    for (let span = blocked.at[at]; span < blocked.at[at + 1]; span++) {
      lacked += Math.max(0, Math.min(end, blocked.end[span]) - Math.max(start, blocked.start[span]));
    }
    if (2 * lacked >= end - start) return `no flow-control credit for ${at < streams.length ? streams[at].label : "the connection"}`;
  }
  return null;
}

/** The wait that ended with the stall: the packet that was missing.
 *  @param {Direction} direction @param {number} end */
function missing(direction, end) {
  const { waits } = direction;
  for (const stream of direction.streams) {
    const span = lowerBound(waits.end, end, waits.at[stream.at], waits.at[stream.at + 1]);
    if (span < waits.at[stream.at + 1] && waits.end[span] === end) return `${stream.label} waited for ${cause(direction, waits, span)}`;
  }
  return null;
}

/** What the sender did.
 *  @param {Direction} direction @param {number} start @param {number} end */
function sending(direction, start, end) {
  const { sent, facts } = direction;
  if (!facts.hasSender) return [];
  const first = lowerBound(sent, start - direction.typicalDelay);
  const last = upperBound(sent, end);
  if (last - first > MOST_LOOKED_AT) return [];
  let [lost, timeouts, underway] = [0, 0, 0];
  for (let packet = first; packet < last; packet++) {
    if (packet > 0 && isAfterTimeout(direction, packet)) timeouts++;
    // What arrived before, or ended the stall, was not underway in it.
    if (direction.received[packet] <= start || direction.received[packet] >= end) continue;
    underway++;
    if (!direction.hasArrived(packet) && (direction.isLost(packet) || isGone(direction, packet))) lost++;
  }
  return [
    timeouts ? `the sender waited for ${plural(timeouts, "timeout")}` : null,
    lost ? `${integer(lost)} of ${plural(underway, "packet")} lost` : null,
  ];
}

/** Whether a packet that did not arrive should have done so long ago.
 *  @param {Direction} direction @param {number} packet */
function isGone(direction, packet) {
  const { sent, facts, duration: end, typicalDelay } = direction;
  return facts.hasReceiver && sent[packet] + 4 * typicalDelay < end;
}

/** Whether a packet ends a silence of more than a round trip in which no acknowledgement came, though one was due: what was
 *  sent then was sent because a timer had expired.
 *  @param {Direction} direction @param {number} packet */
function isAfterTimeout(direction, packet) {
  const { sent, acknowledged, typicalDelay } = direction;
  const before = sent[packet - 1];
  if (sent[packet] - before < 2.5 * typicalDelay || !direction.isElicited(packet - 1)) return false;
  for (let at = packet - 1; at >= Math.max(0, packet - MOST_IN_FLIGHT); at--) {
    if (acknowledged[at] > before && acknowledged[at] <= sent[packet]) return false;
  }
  return !(acknowledged[packet - 1] <= sent[packet]);
}

/** Why nothing came though nothing was lost.
 *  @param {Direction} direction @param {number} start @param {number} end */
function silence(direction, start, end) {
  const { queued, facts, typicalDelay, streams } = direction;
  const last = direction.received.indexOf(end);
  if (last >= 0 && facts.hasSender && direction.sent[last] <= start) {
    return `packet ${direction.number[last]} was in flight for ${duration(end - direction.sent[last])}`;
  }
  const middle = Math.max(0, (start + end) / 2 - typicalDelay);
  const hasData = streams.some(({ at }) => {
    const span = lowerBound(queued.end, middle, queued.at[at], queued.at[at + 1]);
    return span < queued.at[at + 1] && queued.start[span] <= middle;
  });
  // What is written as datagrams the log does not tell.
  if (facts.hasWritten && !hasData && streams.every(({ id }) => id >= 0)) return "the application had written nothing";
  return fullWindow(direction, middle) ?? fullWindow(direction, start) ?? "no new data arrived";
}

/** Whether the congestion window was full.
 *  @param {Direction} direction @param {number} time */
function fullWindow(direction, time) {
  const [flight, window] = ["bytes_in_flight", "congestion_window"].map((name) => direction.gauge(name, time));
  return flight !== undefined && window !== undefined && flight + 1200 > window ? `the congestion window of ${size(window)} was full` : null;
}
