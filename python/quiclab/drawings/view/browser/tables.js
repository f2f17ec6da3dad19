// The tables below the figure: where the time went, the longest stalls, the longest waits. Each row leads to its place.

import { byId, inside, link } from "./elements.js";
import { longestStalls } from "./stalls.js";
import { cause, duration, fixed, integer, milliseconds } from "./text.js";

/** @import { CauseFacts } from "./facts.js" */
/** @import { Figure } from "./figure.js" */
/** @import { Why } from "./panels.js" */
/** @import { Track } from "./track.js" */

const LONGEST_WAITS = 20;
const LONGEST_STALLS = 10;

/** The cells of a row, and where it leads.
 *  @typedef {{ cells: (string | Node)[], go: (() => void) | null }} Row */

/** Fills the rows of a table.
 *  @param {Row[]} rows of each row the cells, and where it leads: a function, or null
 *  @param {number} leading the place of the cell that is a button then
 *  @param {HTMLTableElement} table @param {Figure} figure @param {string} empty */
function fillRows(table, figure, rows, leading, empty) {
  const body = table.tBodies[0];
  body.replaceChildren();
  table.classList.toggle("stacked", figure.isStacked);
  for (const { cells, go } of rows) {
    const row = body.insertRow();
    cells.forEach((content, at) => {
      const cell = row.insertCell();
      if (go && at === leading) {
        cell.append(link(() => {}, content));
      } else cell.append(content);
    });
    if (!go) continue;
    row.classList.add("leads");
    row.addEventListener("click", () => {
      go();
      figure.element.scrollIntoView({ block: "nearest" });
    });
  }
  if (!rows.length) {
    const cell = body.insertRow().insertCell();
    cell.colSpan = inside(table, "thead tr", HTMLTableRowElement).cells.length;
    cell.textContent = empty;
  }
}

/** The longest waits of all tracks, for missing bytes and for credit.
 *  @param {HTMLTableElement} table @param {Figure} figure */
function fillWaits(table, figure) {
  const all = figure.tracks.flatMap((track) => [track.direction.waits, track.direction.blocked].flatMap((waits) =>
    Array.from(waits.order, (span) => ({ track, waits, span, length: waits.end[span] - waits.start[span] }))));
  const longest = all.sort((one, other) => other.length - one.length).slice(0, LONGEST_WAITS);
  const rows = longest.map(({ track, waits, span, length }) => {
    const { direction } = track;
    const isCredit = waits === direction.blocked;
    return {
      cells: [
        track.short,
        `${direction.streams[waits.stream[span]]?.id ?? "all"}`,
        milliseconds(waits.start[span] + track.offset),
        milliseconds(length),
        isCredit ? "" : integer(waits.held[span]),
        isCredit ? `credit to send more than ${integer(waits.offset[span])} B` : cause(direction, waits, span),
      ],
      go: () => figure.reveal(waits, span, track),
    };
  });
  fillRows(table, figure, rows, 2, "No stream waited.");
}

/** The longest times in which nothing was delivered.
 *  @param {HTMLTableElement} table @param {Figure} figure */
function fillStalls(table, figure) {
  const all = figure.tracks.flatMap((track) => longestStalls(track, LONGEST_STALLS).map((stall) => ({ track, ...stall })));
  const longest = all.sort((one, other) => other.end - other.start - one.end + one.start).slice(0, LONGEST_STALLS);
  const rows = longest.map(({ track, start, end, reason }) => ({
    cells: [track.short, milliseconds(start + track.offset), milliseconds(end - start), reason],
    go: () => figure.revealSpan(track, start, end, `nothing was delivered: ${reason}`),
  }));
  fillRows(table, figure, rows, 1, "Something was delivered in each round trip.");
}

/** Where the time of the flows went.
 *  @param {HTMLElement} section @param {Figure} figure */
function fillWhy(section, figure) {
  const known = figure.tracks.flatMap((track) => (track.why ? [{ track, why: track.why }] : []));
  section.hidden = !known.length;
  /** @param {{ track: Track, why: Why }} known */
  const sentence = ({ track, why }) => {
    const done = why.completed ? "completed" : `not completed: ${why.unfinished}`;
    return `${figure.isStacked ? `${track.name}: ` : ""}${duration(why.end - why.start)}, ${done}`;
  };
  inside(section, "p", HTMLParagraphElement).replaceChildren(...known.map((each) => prose("div", sentence(each))));
  const rows = known.flatMap(({ track, why }) => [
    ...why.causes.map((one) => whyRow(figure, track, one, "")),
    ...why.beside.map((one) => whyRow(figure, track, one, "at the same time: ")),
  ]);
  fillRows(inside(section, "table", HTMLTableElement), figure, rows, 1, "Nothing took its time.");
}

/** @param {Figure} figure @param {Track} track @param {CauseFacts} cause @param {string} before */
function whyRow(figure, track, { name, share, length, longest: [start, end], what, advice }, before) {
  const hasStretch = end > start;
  /** @param {number} time */
  const seconds = (time) => fixed(time / 1e9, 3);
  /** @param {number} time */
  const place = (time) => seconds(time + track.offset);
  return {
    cells: [
      track.short,
      `${before}${name}`,
      shareBar(share),
      seconds(length),
      hasStretch ? `${place(start)} to ${place(end)}` : "-",
      prose("span", advice),
    ],
    go: hasStretch ? () => figure.revealSpan(track, start, end, `${name}: ${what}`) : null,
  };
}

/** A part of the time, as a number over a bar.
 *  @param {number} share */
function shareBar(share) {
  const element = document.createElement("span");
  element.className = "share";
  element.style.backgroundSize = `${100 * share}% 100%`;
  element.textContent = `${fixed(100 * share, 1)} %`;
  return element;
}

/** A text with names of options between backquotes, as an element.
 *  @param {string} tag @param {string} text */
function prose(tag, text) {
  const element = document.createElement(tag);
  text.split("`").forEach((part, at) => {
    if (at % 2 === 0) element.append(part);
    else element.append(Object.assign(document.createElement("code"), { textContent: part }));
  });
  return element;
}

/** Fills all of them for what the figure shows.
 *  @param {Figure} figure */
export function fillTables(figure) {
  fillWhy(byId("why", HTMLElement), figure);
  fillStalls(inside(document, "#stalls table", HTMLTableElement), figure);
  fillWaits(inside(document, "#longest table", HTMLTableElement), figure);
}
