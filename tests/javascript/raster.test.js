// Pixels that are written directly, and mixed colours.

import assert from "node:assert/strict";
import { test } from "node:test";
import { mix } from "../../python/quiclab/drawings/view/browser/colours.js";
import { Raster } from "../../python/quiclab/drawings/view/browser/raster.js";

// What a browser has.
Object.assign(globalThis, {
  ImageData: class {
    /** @param {number} width @param {number} height */
    constructor(width, height) {
      this.width = width;
      this.height = height;
      this.data = new Uint8ClampedArray(4 * width * height);
    }
  },
});

/** The rows of pixels, a digit each.
 *  @param {Raster} raster */
function rows({ pixels, width, height }) {
  return Array.from({ length: height }, (_, y) => pixels.subarray(y * width, (y + 1) * width).join(""));
}

test("a rectangle has its left and top, and not its right and bottom; what is outside is cut off", () => {
  const raster = new Raster(5, 3, 0);
  raster.rect(1, 1, 3, 2, 7);
  assert.deepEqual(rows(raster), ["00000", "07700", "00000"]);
  raster.rect(4, -5, 9, 9, 8);
  assert.deepEqual(rows(raster), ["00008", "07708", "00008"]);
  raster.rect(-9, 2, 1, 3, 1);
  assert.deepEqual(rows(raster), ["00008", "07708", "10008"]);
  assert.equal(raster.count, 3);
  raster.rect(3, 0, 3, 3, 9);
  raster.rect(0, 3, 5, 9, 9);
  assert.equal(raster.count, 3);
});

test("stripes leave what is behind", () => {
  const raster = new Raster(8, 2, 1);
  raster.hatch(0, 0, 8, 2, 5, 4);
  assert.deepEqual(rows(raster), ["51115111", "11151115"]);
});

test("a mixed colour has its share of both", () => {
  assert.equal(mix("#102030", "#ffffff", 0), "#102030");
  assert.equal(mix("#000000", "#ffffff", 1), "#ffffff");
  assert.equal(mix("#102030", "#304050", 0.5), "#203040");
  assert.equal(mix("#000000", "#0a0000", 0.26), "#030000");
});
