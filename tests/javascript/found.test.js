// What was found in several tracks, in the order of time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Found } from "../../python/quiclab/drawings/view/browser/found.js";

/** @import { Track } from "../../python/quiclab/drawings/view/browser/track.js" */

/** A track of which no more is known than when its packets were sent.
 *  @param {number[]} sent @param {number} offset */
function trackOf(sent, offset) {
  return /** @type {Track} */ (/** @type {unknown} */ ({ direction: { sent: Float64Array.from(sent) }, offset }));
}

// On the figure's axis: first at 0, 10, 20, 30, second at 5, 10, 25.
const first = trackOf([0, 10, 20, 30], 0);
const second = trackOf([0, 5, 20], 5);
const found = new Found([[first, Uint32Array.of(1, 3)], [second, Uint32Array.of(0, 1, 2)]]);
// In the order of time; at 10 the first track's packet comes first.
const ORDER = [[second, 0], [first, 1], [second, 1], [second, 2], [first, 3]].map(([track, packet]) => (
  /** @type {{ track: Track, packet: number }} */ ({ track, packet })));

test("steps go through all of them in the order of time, and around", () => {
  for (const [at, place] of ORDER.entries()) {
    assert.deepEqual(found.step(place, 1), ORDER[(at + 1) % 5]);
    assert.deepEqual(found.step(place, -1), ORDER[(at + 4) % 5]);
    assert.equal(found.rank(place), at + 1);
  }
  assert.equal(found.count, 5);
});

test("from a time, and from a packet that was not found, the next one is meant", () => {
  assert.deepEqual(found.step({ time: 6 }, 1), ORDER[1]);
  assert.deepEqual(found.step({ time: 6 }, -1), ORDER[0]);
  assert.deepEqual(found.step({ time: 31 }, 1), ORDER[0]);
  assert.deepEqual(found.step({ track: first, packet: 2 }, 1), ORDER[3]);
  assert.deepEqual(found.step({ track: first, packet: 2 }, -1), ORDER[2]);
});

test("where nothing was found, there is no next one", () => {
  assert.equal(new Found([[first, new Uint32Array(0)]]).step({ time: 0 }, 1), undefined);
});
