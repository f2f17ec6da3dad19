// The columns of a sweep's runs, and the filter over them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { finder, order, readColumns, valueText } from "../../python/quiclab/drawings/report/browser/columns.js";
import { makeFilter } from "../../python/quiclab/drawings/report/browser/filter.js";

/** @import { ColumnFacts, SweepFacts } from "../../python/quiclab/drawings/report/browser/facts.js" */

/** @type {ColumnFacts[]} */
const FACTS = [
  { name: "run", kind: "number", shown: true, varied: false, whole: true, values: [1, 2, 3, 4] },
  { name: "link.rate_mbps", kind: "number", shown: true, varied: true, values: [10, 10, 1234.5, null] },
  { name: "connection.goodput_mbps", kind: "number", shown: true, varied: false, values: [9.5, 8.25, null, 7] },
  { name: "flow.goodput_mbps", kind: "number", shown: false, varied: false, values: [1, 2, 3, 4] },
  { name: "controller", kind: "text", shown: true, varied: true, words: ["cubic", "BBR v3", "newreno"], values: [0, 1, 2, null] },
  { name: "completed", kind: "flag", shown: true, varied: false, values: [1, 0, null, 1] },
];
/** @type {SweepFacts["same"]} */
const SAME = [["link.delay_ms", 25], ["scenario", "bulk"], ["seeded", true], ["note", null]];
const columns = readColumns(FACTS);
const find = finder(columns, SAME);

/** The runs that a filter leaves.
 *  @param {string} text */
function runs(text) {
  const filter = makeFilter(text, find);
  return [0, 1, 2, 3].filter(filter).map((row) => row + 1);
}

test("a short name is the shortest end that no other column has", () => {
  assert.deepEqual(columns.map(({ short }) => short), [
    "run", "rate_mbps", "connection.goodput_mbps", "flow.goodput_mbps", "controller", "completed",
  ]);
  assert.deepEqual(columns.map(({ decimals }) => decimals), [0, 0, 3, 3, 0, 0]);
});

test("values are written by their kind; what was varied stands as it was chosen", () => {
  assert.deepEqual(columns.map((column) => valueText(column, 0)), ["1", "10", "9.500", "1.000", "cubic", "yes"]);
  assert.deepEqual(columns.map((column) => valueText(column, 2)), ["3", "1,234.5", "-", "3.000", "newreno", "-"]);
});

test("rows are in order up or down, and those without a value last", () => {
  /** @param {number} at @param {boolean} isDown */
  const sorted = (at, isDown) => [0, 1, 2, 3].sort(order(columns[at], isDown)).map((row) => row + 1);
  assert.deepEqual(sorted(2, false), [4, 2, 1, 3]);
  assert.deepEqual(sorted(2, true), [1, 2, 4, 3]);
  // Of equal values the first run comes first, whichever way.
  assert.deepEqual(sorted(1, false), [1, 2, 3, 4]);
  assert.deepEqual(sorted(1, true), [3, 1, 2, 4]);
  // By the words, not by their places.
  assert.deepEqual(sorted(4, false), [2, 1, 3, 4]);
});

test("a column is found by its name, its short name or its end; two that fit are an error", () => {
  assert.equal(find("LINK.rate_mbps"), columns[1]);
  assert.equal(find("flow.goodput_mbps"), columns[3]);
  assert.equal(find("nothing"), undefined);
  assert.throws(() => find("goodput_mbps"), /^Error: goodput_mbps may be connection\.goodput_mbps, flow\.goodput_mbps$/);
  const delay = find("delay_ms");
  assert.deepEqual([delay?.name, delay?.kind, delay?.values], ["link.delay_ms", "number", [25, 25, 25, 25]]);
  assert.deepEqual([find("scenario")?.words, find("scenario")?.values], [["bulk"], [0, 0, 0, 0]]);
  assert.deepEqual([find("seeded")?.kind, find("seeded")?.values[3], find("note")?.values[0]], ["flag", 1, null]);
});

test("filters compare numbers, words and flags; a missing value is never left", () => {
  assert.deepEqual(runs(""), [1, 2, 3, 4]);
  assert.deepEqual(runs("rate_mbps > 10"), [3]);
  assert.deepEqual(runs("rate_mbps <= 10"), [1, 2]);
  assert.deepEqual(runs("rate_mbps != 10"), [3]);
  assert.deepEqual(runs("controller = CUBIC"), [1]);
  assert.deepEqual(runs('controller == "bbr v3"'), [2]);
  assert.deepEqual(runs("controller ~ n"), [3]);
  assert.deepEqual(runs("rate_mbps ~ 23"), [3]);
  assert.deepEqual(runs("completed"), [1, 4]);
  assert.deepEqual(runs("completed = no"), [2]);
  assert.deepEqual(runs("connection.goodput_mbps"), [1, 2, 4]);
  assert.deepEqual(runs("delay_ms = 25 and run >= 3"), [3, 4]);
});

test("and binds closer than or, and not closest", () => {
  assert.deepEqual(runs("run = 1 or run = 2 and completed"), [1]);
  assert.deepEqual(runs("(run = 1 or run = 2) and not completed"), [2]);
  assert.deepEqual(runs("not completed or run = 1"), [1, 2, 3]);
  assert.deepEqual(runs("not run = 1 and not run = 2"), [3, 4]);
  assert.deepEqual(runs("`run` < 3"), [1, 2]);
});

test("what is not a filter is refused with a sentence", () => {
  for (const [text, told] of Object.entries({
    "nothing > 1": "no column nothing",
    "run >": "expected a value after run >",
    "run > fast": "run: expected a number instead of fast",
    "completed = perhaps": "completed: expected yes or no instead of perhaps",
    "(run > 1": "a ) is missing",
    "run > 1 completed": "expected and, or, or the end instead of completed",
    "run > 1 and": "expected the name of a column",
    "> 1": "expected the name of a column instead of >",
    "run = \"1": "cannot read \"1",
  })) assert.throws(() => runs(text), { message: told });
});
