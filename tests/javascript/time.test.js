// The time axis, in numbers that can be checked by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decimals, niceStep, ShiftedAxis, TimeAxis } from "../../python/quiclab/drawings/view/browser/time.js";

/** An axis of two seconds on 1,000 pixels. */
function axis() {
  const made = new TimeAxis(2e9);
  made.width = 1000;
  return made;
}

test("at first the whole time is visible, with one percent on both sides", () => {
  const { start, end, span } = axis();
  assert.deepEqual([start, end, span], [-2e7, 2.02e9, 2.04e9]);
});

test("pixels and times are the same places", () => {
  const time = axis();
  time.show(1e9, 1.5e9);
  assert.deepEqual([time.x(1e9), time.x(1.25e9), time.x(1.5e9)], [0, 500, 1000]);
  assert.equal(time.time(500), 1.25e9);
});

test("a range stays within the whole time, and is no shorter than 200 ns", () => {
  const time = axis();
  time.show(1.9e9, 2.5e9);
  assert.deepEqual([time.start, time.end], [2.02e9 - 0.6e9, 2.02e9]);
  time.show(-1e9, 9e9);
  assert.deepEqual([time.start, time.end], [-2e7, 2.02e9]);
  time.show(1000, 1010);
  assert.deepEqual([time.start, time.end], [905, 1105]);
});

test("zoom leaves the time at the pixel where it is", () => {
  const time = axis();
  time.show(0, 1e9);
  time.zoom(2, 250);
  assert.deepEqual([time.start, time.end, time.time(250)], [0.125e9, 0.625e9, 0.25e9]);
});

test("pan moves by pixels, up to the ends", () => {
  const time = axis();
  time.show(0, 1e9);
  time.pan(100);
  assert.deepEqual([time.start, time.end], [1e8, 1.1e9]);
  time.pan(-5000);
  assert.equal(time.start, -2e7);
  time.pan(50000);
  assert.equal(time.end, 2.02e9);
});

test("ticks stand at multiples of 1, 2 or 5, in milliseconds where these are less than 50 ms", () => {
  const time = axis();
  assert.equal(time.ticks().unit, "s");
  assert.deepEqual(time.ticks().ticks.map(({ text }) => text), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2", "1.4", "1.6", "1.8", "2.0"]);
  time.show(1e9, 1.0001e9);
  const { ticks, unit } = time.ticks();
  assert.equal(unit, "ms");
  assert.deepEqual(ticks.map(({ text }) => text), ["1,000.00", "1,000.01", "1,000.02", "1,000.03", "1,000.04", "1,000.05", "1,000.06",
    "1,000.07", "1,000.08", "1,000.09", "1,000.10"]);
  assert.equal(ticks[3].time, 1000030000);
});

test("a shifted axis sees the same pixels by another clock", () => {
  const time = axis();
  const shifted = new ShiftedAxis(time, 1e8);
  shifted.show(0, 1e9);
  assert.deepEqual([time.start, time.end], [1e8, 1.1e9]);
  assert.deepEqual([shifted.start, shifted.end, shifted.span, shifted.width], [0, 1e9, 1e9, 1000]);
  assert.deepEqual([shifted.x(5e8), shifted.time(500)], [500, 5e8]);
  assert.deepEqual([shifted.least, shifted.most], [-1.2e8, 1.92e9]);
});

test("steps are the next of 1, 2, 5, 10 ...", () => {
  assert.deepEqual([0.9, 1, 1.1, 2, 2.1, 5, 5.1, 10, 11, 0.03, 0.3].map(niceStep), [1, 1, 2, 2, 5, 5, 10, 10, 20, 0.05, 0.5]);
  assert.deepEqual([100, 1, 0.5, 0.1, 0.02, 1e-3].map(decimals), [0, 0, 1, 1, 2, 3]);
});
