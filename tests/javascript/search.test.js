// Binary search against a scan of all values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lowerBound, nearest, upperBound } from "../../python/quiclab/drawings/view/browser/search.js";

const COLUMN = [1, 3, 3, 3, 8, 8, 13, 40];
const VALUES = [-1, 1, 2, 3, 4, 5.5, 8, 10, 13, 26, 27, 40, 41];

test("bounds are those of a scan, in any part of a column", () => {
  for (let from = 0; from <= COLUMN.length; from++) {
    for (let to = from; to <= COLUMN.length; to++) {
      for (const value of VALUES) {
        const part = COLUMN.slice(from, to);
        assert.equal(lowerBound(COLUMN, value, from, to), from + part.filter((each) => each < value).length);
        assert.equal(upperBound(COLUMN, value, from, to), from + part.filter((each) => each <= value).length);
      }
    }
  }
});

test("the nearest value is found, the lower one of two that are as near", () => {
  assert.deepEqual([0, 2, 5, 5.6, 26.4, 26.5, 26.6, 99].map((value) => COLUMN[nearest(COLUMN, value)]), [1, 1, 3, 8, 13, 13, 40, 40]);
  assert.equal(nearest(COLUMN, 40, 2, 5), 4);
  assert.equal(nearest(COLUMN, 0, 4, 5), 4);
  assert.equal(nearest([], 3), -1);
  assert.equal(nearest(COLUMN, 3, 2, 2), -1);
});
