// Numbers, times and axes of a report.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { multiples } from "../../python/quiclab/drawings/report/browser/labels.js";
import { decimalsOf, tick, written } from "../../python/quiclab/drawings/report/browser/numbers.js";
import { nanoseconds, unpack } from "../../python/quiclab/drawings/report/browser/packed.js";

test("numbers beside each other have four significant digits of the greatest, and at most six decimals", () => {
  assert.deepEqual([0, 0.00012, 0.012, 1, 9.99, 10, 123, 9999, 1e6, NaN].map(decimalsOf), [0, 6, 5, 3, 3, 2, 1, 0, 0, 0]);
});

test("a number is written with its decimals, and what is none as a dash", () => {
  assert.equal(written(1234.5, 2), "1,234.50");
  assert.equal(written(0, 0), "0");
  assert.deepEqual([null, NaN].map((value) => written(value, 1)), ["-", "-"]);
});

test("numbers of an axis are as short as they can be", () => {
  assert.deepEqual([0, 0.1 + 0.2, 1500, 1234567, 0.001, 0.0001, -2.5].map(tick), ["0", "0.3", "1,500", "1,234,570", "0.001", "0.0001", "-2.5"]);
});

test("multiples of a step lie between the ends, which belong to them", () => {
  assert.deepEqual(multiples(0, 10, 5).map(tick), ["0", "5", "10"]);
  assert.deepEqual(multiples(-3, 7, 2.5), [-2.5, 0, 2.5, 5]);
  assert.equal(multiples(0, 0.3, 0.1).length, 4);
  assert.deepEqual(multiples(1, 1.5, 2), []);
});

test("differences in microseconds are times in nanoseconds", () => {
  assert.deepEqual([...nanoseconds([5, 0, 10, -3])], [5000, 5000, 15000, 12000]);
});

test("base64 of compressed JSON is unpacked", async () => {
  const facts = { figures: [], text: "a \u2192 b" };
  assert.deepEqual(await unpack(deflateSync(JSON.stringify(facts)).toString("base64")), facts);
});
