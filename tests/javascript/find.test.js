// The search for packets by words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { search } from "../../python/quiclab/drawings/view/browser/find.js";
import { fourPackets } from "./packed_columns.js";

const direction = fourPackets({ kinds: ["1RTT", "0RTT"], triggers: ["", "packet_threshold"], texts: ["MAX_DATA {}", "PING"] }, {
  kind: [1, 0, 0, 0], trigger: [0, 1, 1, 0], acks: [0, 0, 1, 0], "frame.delay": [0], "frame.ranges": [1], "frame.largest": [3],
  "frame.range": [0], others: [0, 0, 1, 1], "frame.text": [1, 0], "frame.value": [5],
});

/** @param {string} text */
function numbers(text) {
  const { packets, unknown } = search(direction, text);
  return unknown ?? [...packets].map((packet) => direction.number[packet]);
}

test("words are those of packets, frames and streams", () => {
  assert.deepEqual(numbers("lost"), [8]);
  assert.deepEqual(numbers("again"), [10]);
  assert.deepEqual(numbers("ack"), [9]);
  assert.deepEqual(numbers("fin"), [9]);
  assert.deepEqual(numbers("stream"), [7, 8, 9, 10]);
  assert.deepEqual(numbers("datagram"), []);
  assert.deepEqual(numbers("stream 4"), [8, 10]);
  assert.deepEqual(numbers("stream=0"), [7, 9]);
  assert.deepEqual(numbers("9"), [9]);
  assert.deepEqual(numbers("0rtt"), [7]);
  assert.deepEqual(numbers("Max_Data"), [10]);
  // The trigger of a packet that was not lost means nothing.
  assert.deepEqual(numbers("packet_threshold"), [8]);
});

test("all of the words must be there, and one that nothing has is named", () => {
  assert.deepEqual(numbers("stream:4 lost"), [8]);
  assert.deepEqual(numbers("ping lost"), []);
  assert.deepEqual(numbers("  "), []);
  assert.equal(numbers("lost nonsense"), "nonsense");
  assert.equal(numbers("stream 8"), "stream:8");
});

test("a packet is spurious if it was declared lost but arrived", () => {
  const late = fourPackets({}, { lost: [81, 71, 0, 0] });
  assert.deepEqual([...search(late, "spurious").packets], [0]);
});
