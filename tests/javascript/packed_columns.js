// Columns of the view's page, written by hand: the counterpart of columns.js, and independent of columns.py.

import { Columns } from "../../python/quiclab/drawings/view/browser/columns.js";
import { Direction } from "../../python/quiclab/drawings/view/browser/model.js";

/** @import { DirectionFacts } from "../../python/quiclab/drawings/view/browser/facts.js" */

/** The bytes of integers: 2v for v >= 0, -2v - 1 below, in groups of seven bits, the lowest first.
 *  @param {number[]} values */
export function bytesOf(values) {
  return values.flatMap((value) => {
    let rest = BigInt(value) >= 0n ? 2n * BigInt(value) : -2n * BigInt(value) - 1n;
    const bytes = [];
    for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
    return [...bytes, Number(rest)];
  });
}

/** Columns by their names.
 *  @param {Record<string, number[]>} table */
export function columnsOf(table) {
  const packed = Object.entries(table).map(([name, values]) => ({ name, count: values.length, bytes: bytesOf(values) }));
  /** @type {Record<string, [number, number]>} */
  const index = Object.fromEntries(packed.map(({ name, count, bytes }) => [name, [count, bytes.length]]));
  return new Columns(Uint8Array.from(packed.flatMap(({ bytes }) => bytes)), index);
}

const WAITS = ["stream", "start", "length", "missing", "filled", "offset", "held"];
const NAMES = [
  "sent", "number", "kind", "size", "received", "acknowledged", "lost", "trigger", "streams", "frame.stream", "frame.offset",
  "frame.length", "acks", "frame.delay", "frame.ranges", "frame.largest", "frame.range", "others", "frame.text", "frame.value",
  "again.from", "again.to", ...["waits", "one", "queued", "blocked"].flatMap((of) => WAITS.map((part) => `${of}.${part}`)),
];

/** A direction with these columns; those that are not given have no values, or as many zeros as there are packets.
 *  @param {Record<string, number[]>} columns @param {Partial<DirectionFacts>} facts @param {number} duration */
export function directionOf(columns, facts = {}, duration = 1000) {
  const count = columns.sent?.length ?? 0;
  const perPacket = ["number", "kind", "size", "received", "acknowledged", "lost", "trigger", "streams", "acks", "others"];
  const table = Object.fromEntries(NAMES.map((name) => [
    `0.${name}`, columns[name] ?? new Array(perPacket.includes(name) ? count : 0).fill(0),
  ]));
  for (const [name, values] of Object.entries(columns)) table[`0.${name}`] = values;
  return new Direction(columnsOf(table), "0.", {
    sender: "server", hasSender: true, hasReceiver: true, hasWritten: true, streams: [], kinds: ["1RTT"], triggers: [""], texts: [],
    metrics: [], notes: [], ...facts,
  }, duration);
}

/** Four packets, sent at 0, 10, 20 and 30 ns with the numbers 7 to 10. Packet 7 has bytes 0 to 99 of stream 0 and arrives at 50,
 *  8 has bytes 0 to 49 of stream 4 and is lost, 9 has bytes 100 to 199 of stream 0 and arrives at 70 as its last, 10 has those of
 *  8 again and arrives at 130. Stream 4 has no more; 7 is acknowledged at 90.
 *  @param {Partial<DirectionFacts>} facts @param {Record<string, number[]>} more columns */
export function fourPackets(facts = {}, more = {}) {
  return directionOf({
    sent: [0, 10, 10, 10], number: [7, 1, 1, 1], size: [120, 70, 120, 70],
    // One more than the time since it was sent; 0: never.
    received: [51, 0, 51, 101], acknowledged: [91, 0, 0, 0], lost: [0, 71, 0, 0],
    streams: [1, 1, 1, 1], "frame.stream": [0, 1, 0, 1],
    // As differences from the end of the frame before in the stream; lengths doubled, one more with FIN.
    "frame.offset": [0, 0, 0, -50], "frame.length": [200, 100, 201, 100],
    "again.from": [1], "again.to": [2],
    ...more,
  }, { streams: [[0, 200, 0], [4, 50, 50]], ...facts }, 200);
}
