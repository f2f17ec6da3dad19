// One direction of a connection, from columns that are written by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { directionOf, fourPackets } from "./packed_columns.js";

test("times are those of the packets, and NaN where there is none", () => {
  const { sent, received, acknowledged, lost, number } = fourPackets();
  assert.deepEqual([...sent], [0, 10, 20, 30]);
  assert.deepEqual([...number], [7, 8, 9, 10]);
  assert.deepEqual([...received], [50, NaN, 70, 130]);
  assert.deepEqual([...acknowledged], [90, NaN, NaN, NaN]);
  assert.deepEqual([...lost], [NaN, 80, NaN, NaN]);
  // What arrived before it was sent, by clocks that differ.
  assert.deepEqual([...fourPackets({}, { received: [51, 0, -3, 1] }).received], [50, NaN, 17, 30]);
});

test("frames have their stream, offset, length and FIN", () => {
  const { frameAt, frameStream, frameOffset, frameLength, frameFin, framePacket } = fourPackets();
  assert.deepEqual([...frameAt], [0, 1, 2, 3, 4]);
  assert.deepEqual([...frameStream], [0, 1, 0, 1]);
  assert.deepEqual([...frameOffset], [0, 0, 100, 0]);
  assert.deepEqual([...frameLength], [100, 50, 100, 50]);
  assert.deepEqual([...frameFin], [0, 0, 1, 0]);
  assert.deepEqual([...framePacket], [0, 1, 2, 3]);
});

test("arrivals are in the order of time, by stream", () => {
  const { arrived, arrivalAt, arrivalFrame, arrivalTime, arrivalTotal } = fourPackets({}, { received: [101, 0, 51, 101] });
  assert.deepEqual([...arrived], [2, 0, 3]);
  assert.deepEqual([...arrivalAt], [0, 2, 3]);
  assert.deepEqual([...arrivalFrame], [2, 0, 3]);
  assert.deepEqual([...arrivalTime], [70, 100, 130]);
  assert.deepEqual([...arrivalTotal], [0, 100, 200, 250]);
});

test("packets know their copies and what they are copies of", () => {
  const direction = fourPackets();
  assert.deepEqual([...direction.again(1)], [3]);
  assert.deepEqual([...direction.again(0)], []);
  assert.deepEqual(direction.before(3), [1]);
  assert.deepEqual([...direction.isAgain], [0, 0, 0, 1]);
  assert.deepEqual([...direction.marked], [1, 3]);
  assert.deepEqual([...direction.gone], [1]);
  assert.equal(direction.lostCount, 1);
});

test("a packet's bytes are divided among its streams, its header too", () => {
  const direction = directionOf({
    sent: [0, 5, 5], size: [130, -1, 40], streams: [2, 2, 0], "frame.stream": [0, 1, 0, 1], "frame.offset": [0, 0, 0, 0],
    "frame.length": [200, 50, 20, 40],
  }, { streams: [[0, 110, 0], [4, 45, 0]] });
  /** @param {number} packet */
  const parts = (packet) => {
    /** @type {[number, number][]} */
    const found = [];
    direction.parts(packet, (stream, bytes) => found.push([stream, bytes]));
    return found;
  };
  // 130 B for 100 and 25 B of data; a packet of unknown size has its data; one without data belongs to no stream.
  assert.deepEqual(parts(0), [[0, 104], [1, 26]]);
  assert.deepEqual(parts(1), [[0, 10], [1, 20]]);
  assert.deepEqual(parts(2), [[-1, 40]]);
  assert.deepEqual([...direction.only], [-2, -2, -1]);
  assert.deepEqual([...direction.weightTotal], [0, 130, 160, 200]);
  const sums = [0, 0, 0];
  direction.shares.of(0, 3, (group, bytes) => { sums[group] += bytes; });
  assert.deepEqual(sums, [40, 114, 46]);
});

test("the typical delay is the median of every sixteenth packet, the longest that of all", () => {
  const received = Array.from({ length: 40 }, (_, at) => 1 + (at % 16 === 0 ? [40, 500, 30][at / 16] : 900));
  const { typicalDelay, maxDelay } = directionOf({ sent: new Array(40).fill(100), received });
  // Of the packets 0, 16 and 32: 40, 500 and 30.
  assert.deepEqual([typicalDelay, maxDelay], [40, 900]);
  assert.equal(directionOf({ sent: [0] }, {}, 3000).typicalDelay, 30);
});

test("what elicits an acknowledgement has more than one", () => {
  const direction = directionOf({
    sent: [0, 1, 1], acks: [1, 0, 1], streams: [0, 0, 0], others: [0, 1, 0], "frame.delay": [0, 0], "frame.ranges": [1, 1],
    "frame.largest": [0, 1], "frame.range": [0, 0], "frame.text": [0],
  }, { texts: ["PING"] });
  assert.deepEqual([0, 1, 2].map((packet) => direction.isElicited(packet)), [false, true, false]);
});

test("waits are by stream in the order of time, and are found at a time", () => {
  const { waits } = fourPackets({}, {
    "waits.stream": [1, 0, 1], "waits.start": [40, 10, 50], "waits.length": [20, 5, 30], "waits.missing": [1, -2, 2],
    "waits.filled": [3, -1, 1], "waits.offset": [9, 8, 7], "waits.held": [3, 2, 1],
  });
  assert.deepEqual([...waits.at], [0, 1, 3]);
  assert.deepEqual([...waits.start], [50, 40, 100]);
  assert.deepEqual([...waits.end], [55, 60, 130]);
  assert.deepEqual([...waits.missing], [-1, 1, 1]);
  assert.deepEqual([...waits.filled], [2, 3, 3]);
  assert.deepEqual([[...waits.offset], [...waits.held]], [[8, 9, 7], [2, 3, 1]]);
  assert.deepEqual([...waits.order], [1, 0, 2]);
  assert.deepEqual([waits.count, waits.total], [3, 55]);
  assert.deepEqual([40, 60, 61, 99, 115].map((time) => waits.find(1, time)), [1, 1, -1, -1, 2]);
  assert.deepEqual([waits.find(1, 95, 5), waits.find(1, 65, 5), waits.find(1, 66, 5)], [2, 1, -1]);
  assert.equal(waits.find(0, 100), -1);
});

test("packets of a stream around a time, and the value of a gauge at it", () => {
  const direction = fourPackets({ metrics: ["congestion_window"] }, {
    "metric.congestion_window.time": [10, 20], "metric.congestion_window.value": [12000, -2000],
  });
  assert.deepEqual(direction.around(1, 25), [1, 3]);
  assert.deepEqual(direction.around(1, 5), [-1, 1]);
  assert.deepEqual(direction.around(0, 25), [2, -1]);
  assert.deepEqual(direction.around(0, 25, 1), [2, -1]);
  assert.deepEqual(direction.around(1, 25, 0), [-1, -1]);
  assert.deepEqual([9, 10, 29, 30].map((time) => direction.gauge("congestion_window", time)), [undefined, 12000, 12000, 10000]);
  assert.equal(direction.gauge("ssthresh", 50), undefined);
});
