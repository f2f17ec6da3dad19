// The columns of the view's page, unpacked.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { Columns, unpack } from "../../python/quiclab/drawings/view/browser/columns.js";
import { bytesOf, columnsOf } from "./packed_columns.js";

test("integers of any size and sign are read back", () => {
  // 300 is 600 = 4 * 128 + 88, the lower seven bits first.
  assert.deepEqual(bytesOf([0, -1, 1, 63, 64, 300]), [0, 1, 2, 126, 128, 1, 88 | 128, 4]);
  const values = [0, -1, 1, 63, -64, 64, 300, 2 ** 31, -(2 ** 31), 2 ** 40 + 1, -(2 ** 51)];
  assert.deepEqual([...columnsOf({ first: [5], values }).values("values")], values);
});

test("differences are summed", () => {
  assert.deepEqual([...columnsOf({ times: [5, 0, -2, 2 ** 40] }).sums("times")], [5, 5, 3, 2 ** 40 + 3]);
});

test("a column that is not there, and a length that does not fit, are errors", () => {
  assert.throws(() => columnsOf({ a: [1] }).values("b"), /^Error: no column b$/);
  assert.throws(() => new Columns(Uint8Array.of(1, 2), { a: [1, 1] }), /^Error: the columns have 2 bytes, expected 1$/);
});

test("base64 of compressed bytes is unpacked", async () => {
  const text = deflateSync(Uint8Array.from(bytesOf([7, -7, 70000]))).toString("base64");
  const columns = await unpack(text, { a: [1, 1], b: [2, 4] });
  assert.deepEqual([...columns.values("a"), ...columns.values("b")], [7, -7, 70000]);
});
