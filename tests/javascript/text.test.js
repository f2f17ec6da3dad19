// Numbers, packets and waits in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cause, duration, fixed, frames, integer, milliseconds, plural, rate, significant, size, state,
} from "../../python/quiclab/drawings/view/browser/text.js";
import { fourPackets } from "./packed_columns.js";

test("numbers have separated thousands, and no minus before zero", () => {
  assert.equal(fixed(1234567.891, 2), "1,234,567.89");
  assert.equal(fixed(-0.004, 2), "0.00");
  assert.equal(fixed(-0.006, 2), "-0.01");
  assert.equal(integer(999.5), "1,000");
  assert.deepEqual([1.2, 14.71, 667.4, 1234.4, 0.01234, 0, 9.995, 99.96, 999.6].map(significant),
    ["1.20", "14.7", "667", "1,234", "0.0123", "0.00", "9.99", "100", "1,000"]);
});

test("a quantity has the largest unit of which it is at least one when it is rounded", () => {
  assert.deepEqual([0, 999, 1000, 999499, 999500, 12345678, 1.5e9, 61e9].map(duration),
    ["0 ns", "999 ns", "1.00 \u00b5s", "999 \u00b5s", "1.00 ms", "12.3 ms", "1.50 s", "61.0 s"]);
  assert.deepEqual([0, 999, 1500, 2.5e6, 3e9].map(size), ["0 B", "999 B", "1.50 kB", "2.50 MB", "3.00 GB"]);
  assert.deepEqual([12, 56e3, 9.99e6, 1e10].map(rate), ["12 bit/s", "56.0 kbit/s", "9.99 Mbit/s", "10.0 Gbit/s"]);
  assert.equal(milliseconds(1234567), "1.235");
});

test("one thing has its singular, and all other numbers the plural", () => {
  assert.deepEqual([0, 1, 2].map((count) => plural(count, "packet")), ["0 packets", "1 packet", "2 packets"]);
  assert.equal(plural(1200, "has", "have"), "1,200 have");
});

test("what became of a packet", () => {
  const direction = fourPackets({}, { lost: [61, 71, 0, 0] });
  assert.deepEqual([0, 1, 2].map((packet) => state(direction, packet)), ["declared lost, but arrived", "lost", "arrived"]);
  const unseen = fourPackets({ hasReceiver: false });
  assert.deepEqual([0, 1, 2].map((packet) => state(unseen, packet)), ["acknowledged", "lost", "not acknowledged"]);
  assert.equal(state(fourPackets({ hasSender: false, hasReceiver: false }), 2), "arrived");
});

test("frames are told with their ranges, values and bytes", () => {
  const direction = fourPackets({ texts: ["MAX_STREAM_DATA {} of stream {}", "PING"] }, {
    acks: [2, 0, 0, 0], "frame.delay": [25000, 0], "frame.ranges": [2, 1],
    // The largest as a difference from the one before, then how far down its first is, the step to the next range, ...
    "frame.largest": [100, 5], "frame.range": [10, -3, 0, 4],
    others: [0, 2, 0, 0], "frame.text": [0, 1], "frame.value": [70000, 4],
  });
  assert.deepEqual(frames(direction, 0), [
    "ACK 90\u2013100, 87 (delay 25.0 \u00b5s)", "ACK 101\u2013105 (delay 0 ns)", "STREAM 0, offset 0, 100 B",
  ]);
  assert.deepEqual(frames(direction, 1), ["MAX_STREAM_DATA 70,000 of stream 4", "PING", "STREAM 4, offset 0, 50 B"]);
  assert.deepEqual(frames(direction, 2), ["STREAM 0, offset 100, 100 B, FIN"]);
  assert.deepEqual(frames(fourPackets({ streams: [[0, 0, 0], [-1, 0, 0]] }), 1), ["DATAGRAM 50 B"]);
});

test("a wait is for its missing packet, and ends with the one that filled the hole", () => {
  /** @param {number} missing @param {number} filled */
  const waits = (missing, filled) => ({
    "waits.stream": [0], "waits.start": [50], "waits.length": [20], "waits.missing": [missing], "waits.filled": [filled],
    "waits.offset": [0], "waits.held": [0],
  });
  /** @param {number} missing @param {number} filled @param {Record<string, number[]>} more */
  const told = (missing, filled, more = {}) => {
    const direction = fourPackets({}, { ...waits(missing, filled), ...more });
    return cause(direction, direction.waits, 0);
  };
  assert.equal(told(1, 3), "packet 8, lost, retransmitted as 10");
  assert.equal(told(2, 2), "packet 9, late");
  assert.equal(told(2, 2, { lost: [0, 0, 51, 0] }), "packet 9, declared lost, but late");
  assert.equal(told(1, -1), "packet 8, lost, until the end");
  assert.equal(told(-1, 2), "bytes that were not sent, ended by packet 9");
  // Packet 8 again as 9, which is lost as well, and as 10.
  const twice = { "again.from": [1, 0, 1], "again.to": [1, 2, 1], received: [51, 0, 0, 101] };
  assert.equal(told(1, 3, twice), "packet 8, lost, retransmitted as 9 (lost too), then as 10");
  const thrice = { "again.from": [0, 1, 1], "again.to": [1, 1, 1], received: [0, 0, 0, 101], lost: [61, 71, 0, 0] };
  assert.equal(told(0, 3, thrice), "packet 7, lost, retransmitted as 8, 9 (lost too), then as 10");
});
