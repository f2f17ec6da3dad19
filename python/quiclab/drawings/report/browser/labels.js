// Labels of axes: how wide each is, so that a figure has room for all of it.

import { tick } from "./numbers.js";

/** That of `svg text` in style.css. */
const FONT = "11px system-ui, sans-serif";
/** Digits of equal width, and what a browser rounds, take a little more than the letters of the canvas. */
const SPARE = 1.06;

/** @type {CanvasRenderingContext2D | null} */
let pen = null;

/** The width of a text in a figure, in pixels.
 *  @param {string} words */
export function widthOf(words) {
  pen ??= document.createElement("canvas").getContext("2d");
  if (!pen) throw new Error("the browser cannot draw on a canvas");
  pen.font = FONT;
  return Math.ceil(pen.measureText(words).width * SPARE) + 1;
}

/** The width of the widest.
 *  @param {string[]} texts */
export function widestOf(texts) {
  return texts.reduce((widest, words) => Math.max(widest, widthOf(words)), 0);
}

/** The values of an axis in words: with all their digits if these fit, or else all as powers of ten.
 *  @param {number[]} values @param {number} room */
export function axisTexts(values, room) {
  const whole = values.map(tick);
  // One way of writing for all of them.
  return widestOf(whole) <= room && !whole.some((words) => words.includes("e")) ? whole : values.map(power);
}

/** A number as a power of ten: 2.5e12.
 *  @param {number} value */
function power(value) {
  return value === 0 ? "0" : Number(value.toPrecision(4)).toExponential().replace("e+", "e");
}

/** A text that fits, without its middle where it is too wide: both of its ends tell it from others.
 *  @param {string} words @param {number} room */
export function fitted(words, room) {
  if (widthOf(words) <= room) return words;
  const letters = [...words];
  /** @param {number} kept */
  const cut = (kept) => `${letters.slice(0, Math.ceil(kept / 2)).join("")}\u2026${letters.slice(letters.length - Math.floor(kept / 2)).join("")}`;
  let [least, most] = [1, letters.length - 1];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (widthOf(cut(middle)) <= room) least = middle;
    else most = middle - 1;
  }
  return cut(least);
}

/** The places of ticks between two values, at multiples of a step.
 *  @param {number} low @param {number} high @param {number} step */
export function multiples(low, high, step) {
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-9); at++) found.push(at * step);
  return found;
}
