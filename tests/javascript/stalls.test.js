// When nothing was delivered, and why.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deliveries, longestStalls } from "../../python/quiclab/drawings/view/browser/stalls.js";
import { directionOf, fourPackets } from "./packed_columns.js";

/** @import { Direction } from "../../python/quiclab/drawings/view/browser/model.js" */
/** @import { Track } from "../../python/quiclab/drawings/view/browser/track.js" */

/** @param {Direction} direction @param {Partial<Track>} more */
function stalls(direction, more = {}) {
  const track = /** @type {Track} */ (/** @type {unknown} */ ({ direction, offset: 0, ...more }));
  return longestStalls(track, 10).map(({ start, end, reason }) => [start, end, reason]);
}

test("bytes are delivered in order: what is behind a hole waits for it", () => {
  // 0 to 99, 200 to 299, 100 to 149, 150 to 199: the third packet delivers 50 bytes, the fourth all that waited.
  const direction = directionOf({
    sent: [0, 10, 10, 10], received: [51, 51, 51, 51], streams: [1, 1, 1, 1], "frame.stream": [0, 0, 0, 0],
    "frame.offset": [0, 100, -200, 0], "frame.length": [200, 200, 100, 100],
  }, { streams: [[0, 300, 0]] });
  assert.deepEqual([...deliveries(direction).times], [50, 70, 80]);
  assert.equal(deliveries(direction).isWhole, true);
  assert.equal(deliveries(fourPackets()).isWhole, true);
  assert.equal(deliveries(fourPackets({ streams: [[0, 200, 0], [4, 51, 50]] })).isWhole, false);
});

test("the longest times between deliveries are stalls, the longest first, if they are longer than a round trip", () => {
  // The typical delay is that of the first packet, 50 ns, and a stall longer than 100.
  const late = fourPackets({}, { received: [51, 0, 171, 281] });
  assert.deepEqual(stalls(late), [
    [50, 190, "1 of 1 packet lost"],
    [190, 310, "packet 10 was in flight for 280 ns"],
  ]);
  assert.deepEqual(stalls(fourPackets()), []);
});

test("a stall has the outage of the link, the missing credit and the wait that it ended with", () => {
  const late = fourPackets({}, {
    received: [51, 0, 171, 281],
    "blocked.stream": [1], "blocked.start": [100], "blocked.length": [80], "blocked.missing": [-1], "blocked.filled": [-1],
    "blocked.offset": [50], "blocked.held": [0],
    "waits.stream": [0], "waits.start": [60], "waits.length": [130], "waits.missing": [2], "waits.filled": [2],
    "waits.offset": [100], "waits.held": [1],
  });
  // The clock of the run begins 1,000 ns before that of the connection.
  const link = { direction: { name: "cell", outagesWithin: () => [[1060, 1100], [1180, 1500]] }, offset: -1000 };
  assert.deepEqual(stalls(late, { link: /** @type {any} */ (link) })[0], [50, 190,
    "outage of cell for 50 ns; no flow-control credit for stream 4; stream 0 waited for packet 9, late; 1 of 1 packet lost"]);
});

test("credit that was missing for less than half of a stall is not its reason", () => {
  /** @param {number} length */
  const reason = (length) => stalls(fourPackets({}, {
    received: [51, 0, 171, 281],
    "blocked.stream": [2], "blocked.start": [60], "blocked.length": [length], "blocked.missing": [-1], "blocked.filled": [-1],
    "blocked.offset": [50], "blocked.held": [0],
  }))[0][2];
  assert.equal(reason(70), "no flow-control credit for the connection; 1 of 1 packet lost");
  assert.equal(reason(69), "1 of 1 packet lost");
});

test("an end without deliveries is a stall if bytes are missing", () => {
  const [stall] = stalls(fourPackets({ streams: [[0, 300, 0], [4, 50, 50]], hasWritten: false }, { lost: [0, 0, 0, 0], received: [21, 0, 21, 31] }));
  assert.deepEqual(stall, [60, 200, "no new data arrived"]);
});

test("a silence after which a packet was sent without an acknowledgement was ended by a timeout", () => {
  const direction = directionOf({
    sent: [0, 1000], received: [101, 101], streams: [1, 1], "frame.stream": [0, 0], "frame.offset": [0, 0],
    "frame.length": [200, 200],
  }, { streams: [[0, 200, 0]] }, 2000);
  assert.deepEqual(stalls(direction), [[100, 1100, "the sender waited for 1 timeout"]]);
});
