// Sums and extremes of blocks against those of single values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Extremes, pixelEnd, Shares, totals } from "../../python/quiclab/drawings/view/browser/pyramid.js";

const COUNT = 600;
const values = Float64Array.from({ length: COUNT }, (_, at) => ((at * 7919) % 1009) - 300);

test("totals are sums up to each place", () => {
  assert.deepEqual([...totals(Float64Array.of(3, -1, 10))], [0, 3, 2, 12]);
  assert.deepEqual([...totals(new Float64Array(0))], [0]);
});

test("extremes are those of all values of a part, and few are looked at", () => {
  const extremes = new Extremes(values);
  for (let from = 0; from < COUNT; from += 11) {
    for (let to = from + 1; to <= COUNT; to += 13) {
      const part = values.subarray(from, to);
      const [least, most, visited] = extremes.of(from, to);
      assert.deepEqual([least, most], [Math.min(...part), Math.max(...part)]);
      // At most 15 on each side of each of two levels, and what is between: blocks of 256.
      assert.ok(visited <= 4 * 15 + COUNT / 256, `${visited} of ${to - from}`);
    }
  }
  assert.deepEqual(extremes.of(5, 5), [Infinity, -Infinity, 0]);
  assert.deepEqual(extremes.levels.map(({ least }) => least.length), [600, 38, 3]);
});

test("shares are sums by group, whole and in parts", () => {
  // Every value has a part in two groups.
  /** @param {number} at @param {(group: number, share: number) => void} add */
  const each = (at, add) => {
    add(at % 3, 2);
    add(3, at);
  };
  const shares = new Shares(COUNT, 4, each);
  for (const [from, to] of [[0, COUNT], [0, 1], [15, 17], [1, 255], [256, 512], [200, 599], [7, 7]]) {
    const [expected, found] = [[0, 0, 0, 0], [0, 0, 0, 0]];
    for (let at = from; at < to; at++) each(at, (group, share) => { expected[group] += share; });
    const visited = shares.of(from, to, (group, share) => { found[group] += share; });
    assert.deepEqual(found, expected);
    // A block has four entries.
    assert.ok(visited <= 4 * (4 * 15 + COUNT / 256));
  }
});

test("a pixel ends before the first time in the next one", () => {
  const times = Float64Array.from({ length: COUNT }, (_, at) => Math.floor((at * at) / 50) + 1000);
  for (const factor of [0.001, 0.01, 0.1, 1]) {
    for (let from = 0; from < COUNT; from += 7) {
      const pixel = Math.floor((times[from] - 1000) * factor);
      let end = from;
      while (end < COUNT && Math.floor((times[end] - 1000) * factor) === pixel) end++;
      assert.equal(pixelEnd(times, from, COUNT, 1000, factor), end);
    }
  }
});
