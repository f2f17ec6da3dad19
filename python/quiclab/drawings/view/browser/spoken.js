// The figure in words, for those who do not see it.

import { lowerBound, upperBound } from "./search.js";
import { describe } from "./tip.js";
import { duration, fixed, plural, size } from "./text.js";

/** @import { Figure } from "./figure.js" */
/** @import { Track } from "./track.js" */

/** How long the range must rest before it is told again, in milliseconds. */
const REST = 250;

/** What is in the visible range, and what is marked.
 *  @param {Figure} figure */
export function spoken(figure) {
  const { time, kept } = figure;
  /** @param {number} at */
  const seconds = (at) => `${fixed(at / 1e9, decimalsFor(time.span))} s`;
  const range = `Time from ${seconds(Math.max(0, time.start))} to ${seconds(Math.min(time.end, time.most / 1.01))}.`;
  const marked = kept ? ` Marked: ${describe(kept.track.direction, kept).slice(0, 2).join(", ")}.` : "";
  return `${range} ${figure.tracks.map(trackInWords).join(" ")}${marked}`;
}

/** Enough decimals to tell the ends of a range apart.
 *  @param {number} span */
function decimalsFor(span) {
  return Math.min(9, Math.max(2, 2 - Math.floor(Math.log10(span / 1e9))));
}

/** @param {Track} track */
function trackInWords(track) {
  const { direction, time, name, link } = track;
  const { sent, waits } = direction;
  const [first, last] = [lowerBound(sent, time.start), upperBound(sent, time.end)];
  const { marked, weightTotal } = direction;
  let lost = 0;
  for (let at = lowerBound(marked, first); at < marked.length && marked[at] < last; at++) if (direction.isLost(marked[at])) lost++;
  let waiting = 0;
  for (let span = 0; span < waits.count; span++) if (waits.start[span] <= time.end && waits.end[span] >= time.start) waiting++;
  const parts = [`${name}: ${plural(last - first, "packet")} sent with ${size(weightTotal[last] - weightTotal[first])}, ${plural(lost, "declared lost", "declared lost")}`];
  parts.push(plural(waiting, "wait of a stream", "waits of streams"));
  if (link) {
    const { start, end } = link.time;
    const [least, most] = link.direction.between("delivered", start, end);
    parts.push(`${link.direction.name} delivered ${fixed(least / 1e6, 2)} to ${fixed(most / 1e6, 2)} Mbit/s`);
    const outages = link.direction.outagesWithin(start, end);
    if (outages.length) parts.push(`${plural(outages.length, "outage")} of ${duration(outages.reduce((sum, [from, to]) => sum + to - from, 0))} in all`);
  }
  return `${parts.join(", ")}.`;
}

/** Keeps the label of the figure in step with what it shows.
 *  @param {Figure} figure */
export function keepSpoken(figure) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  figure.onRange = () => {
    clearTimeout(timer);
    timer = setTimeout(() => figure.plot.setAttribute("aria-label", spoken(figure)), REST);
  };
}
