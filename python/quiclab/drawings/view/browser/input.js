// Wheel, pointer and keys: they change the range, the rows and what is marked.

import { byId, inside } from "./elements.js";
import { LEFT } from "./layout.js";
import { lowerBound } from "./search.js";
import { showTip } from "./tip.js";

/** @import { Figure, Spot } from "./figure.js" */

/** Lets people move in the figure.
 *  @param {Figure} figure */
export function listen(figure) {
  listenToWheel(figure);
  listenToPointer(figure);
  listenToKeys(figure);
  figure.element.addEventListener("dblclick", () => reset(figure));
}

/** Where in an element a pointer is, in pixels.
 *  @param {HTMLElement} element @param {MouseEvent} event */
function place(element, event) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** Zooms and moves; over the names of the streams it scrolls them.
 *  @param {Figure} figure */
function listenToWheel(figure) {
  figure.element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = place(figure.element, event);
    const spot = figure.at(x, y);
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 200 : 1;
    if (spot?.panel === figure.rows && spot.x < 0) figure.rows.scrollBy(event.deltaY * unit);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) figure.time.pan((event.deltaX || event.deltaY) * unit);
    else {
      const at = spot?.panel === figure.overview ? figure.time.x(figure.overview.time(spot.x)) : x - LEFT;
      figure.time.zoom(Math.exp(-event.deltaY * unit * 0.0016), Math.min(Math.max(at, 0), figure.time.width));
    }
    figure.invalidate();
  }, { passive: false });
}

/** Moves in time, marks what is at the pointer, and lets two fingers zoom.
 *  @param {Figure} figure */
function listenToPointer(figure) {
  const { element } = figure;
  const tip = inside(element, "#tip", HTMLElement);
  /** @type {{ x: number, y: number, from: number, spot: Spot | undefined, moved: boolean } | null} */
  let drag = null;
  // Fingers that touch: with two of them the range is what lies between.
  const fingers = new Map();
  /** @param {PointerEvent} event */
  const lift = (event) => {
    fingers.delete(event.pointerId);
    drag = null;
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = place(element, event);
    fingers.set(event.pointerId, x - LEFT);
    if (fingers.size > 1) drag = null;
    if (fingers.size > 1) return;
    const spot = figure.at(x, y);
    drag = { x, y, from: x, spot, moved: false };
    element.setPointerCapture(event.pointerId);
    if (spot?.panel === figure.overview) centre(figure, spot.x);
  });
  element.addEventListener("pointermove", (event) => {
    const [x, y] = place(element, event);
    const before = fingers.get(event.pointerId);
    if (fingers.size === 2 && before !== undefined) {
      const [other] = [...fingers].filter(([finger]) => finger !== event.pointerId).map(([, at]) => at);
      fingers.set(event.pointerId, x - LEFT);
      pinch(figure, other, before, x - LEFT);
      return;
    }
    if (drag) {
      drag.moved ||= Math.abs(x - drag.from) > 3 || Math.abs(y - drag.y) > 3;
      if (!drag.moved) return;
      if (drag.spot?.panel === figure.overview) centre(figure, figure.at(x, figure.overview.top)?.x ?? 0);
      else {
        figure.time.pan(drag.x - x);
        if (drag.spot?.panel === figure.rows) figure.rows.scrollBy(drag.y - y);
        drag.y = drag.spot?.panel === figure.rows ? y : drag.y;
      }
      drag.x = x;
      showTip(tip, figure);
      figure.invalidate();
      return;
    }
    const spot = figure.at(x, y);
    figure.pointer = spot;
    figure.hovered = spot && figure.hit(spot);
    showTip(tip, figure, figure.hovered, x, y);
    figure.mark();
  });
  element.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved && drag.spot?.panel !== figure.overview) {
      const { hovered } = figure;
      const isMark = hovered && ["packet", "wait", "queued", "blocked", "span"].includes(hovered.kind);
      if (hovered?.kind === "segment") figure.revealSegment(hovered);
      else figure.keep(isMark ? hovered : undefined);
    }
    lift(event);
  });
  element.addEventListener("pointercancel", lift);
  element.addEventListener("pointerleave", () => {
    figure.pointer = figure.hovered = undefined;
    showTip(tip, figure);
    figure.mark();
  });
}

/** @param {Figure} figure */
function listenToKeys(figure) {
  document.addEventListener("keydown", (event) => {
    // A dialog has its own keys, and so has whatever is operated by them.
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const tagName = event.target instanceof Element ? event.target.tagName : "";
    if (/^(SELECT|INPUT)$/.test(tagName) || (/^(BUTTON|SUMMARY)$/.test(tagName) && /^( |Enter)$/.test(event.key))) return;
    const action = KEYS[event.key];
    if (!action) return;
    event.preventDefault();
    action(figure);
    figure.invalidate();
  });
}

/** Shows the whole time, and marks nothing.
 *  @param {Figure} figure */
export function reset(figure) {
  figure.time.reset();
  figure.keep(undefined);
}

/** Moves one of two fingers: the times below both stay below them.
 *  @param {Figure} figure @param {number} other @param {number} before @param {number} x */
function pinch(figure, other, before, x) {
  const { time } = figure;
  if (Math.abs(before - other) < 10 || Math.abs(x - other) < 10) return;
  time.zoom(Math.abs(x - other) / Math.abs(before - other), Math.min(Math.max(other, 0), time.width));
  figure.invalidate();
}

/** Moves the visible range to a pixel of the overview.
 *  @param {Figure} figure @param {number} x */
function centre(figure, x) {
  const { time } = figure;
  const half = time.span / 2;
  const middle = figure.overview.time(x);
  time.show(middle - half, middle + half);
  figure.invalidate();
}

/** Goes to the next wait, or with -1 to the one before.
 *  @param {Figure} figure @param {number} by */
function step(figure, by) {
  const { waits } = figure.direction;
  if (!waits.count) return;
  const shown = Array.from(waits.order).filter((span) => figure.direction.streams[waits.stream[span]].shown);
  const now = shown.indexOf(figure.kept?.kind === "wait" && figure.kept.waits === waits ? figure.kept.span : -1);
  const next = now < 0 ? (by > 0 ? 0 : shown.length - 1) : now + by;
  if (next >= 0 && next < shown.length) figure.reveal(waits, shown[next]);
}

/** Marks the next packet, or with -1 the one before.
 *  @param {Figure} figure @param {number} by */
function stepPacket(figure, by) {
  const { track, kept } = figure;
  const now = kept?.kind === "packet" && kept.track === track ? kept.packet + by : lowerBound(track.direction.sent, track.time.start);
  if (now >= 0 && now < track.direction.count) figure.revealPacket(track, now);
}

/** The pixel that stays where it is while keys zoom: that of the pointer, or the middle.
 *  @param {Figure} figure */
function zoomed({ pointer, time }) {
  return pointer && pointer.x >= 0 ? pointer.x : time.width / 2;
}

/** Into a field, over what is written there.
 *  @param {string} field */
function enter(field) {
  const input = byId(field, HTMLInputElement);
  input.focus();
  input.select();
}

/** @type {Record<string, (figure: Figure) => void>} */
const KEYS = {
  ArrowLeft: (figure) => figure.time.pan(-figure.time.width / 5),
  ArrowRight: (figure) => figure.time.pan(figure.time.width / 5),
  ArrowUp: (figure) => figure.rows.scrollBy(-60),
  ArrowDown: (figure) => figure.rows.scrollBy(60),
  "+": (figure) => figure.time.zoom(1.6, zoomed(figure)),
  "=": (figure) => figure.time.zoom(1.6, zoomed(figure)),
  "-": (figure) => figure.time.zoom(1 / 1.6, zoomed(figure)),
  0: reset,
  Home: reset,
  n: (figure) => step(figure, 1),
  p: (figure) => step(figure, -1),
  ".": (figure) => stepPacket(figure, 1),
  ",": (figure) => stepPacket(figure, -1),
  t: () => byId("one-stream", HTMLElement).click(),
  g: () => enter("go"),
  "/": () => enter("search"),
  "?": () => byId("show-keys", HTMLElement).click(),
  Escape: (figure) => {
    figure.hovered = undefined;
    figure.keep(undefined);
  },
};
