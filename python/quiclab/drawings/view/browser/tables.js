// The tables below the figure: where the time went, the longest stalls, the longest waits. Each row leads to its place.

import { longestStalls } from "./stalls.js";
import { cause, duration, fixed, integer, milliseconds } from "./text.js";

const LONGEST_WAITS = 20;
const LONGEST_STALLS = 10;

/** Fills the rows of a table.
 *  @param rows of each row the cells, and where it leads: a function, or null
 *  @param leading the place of the cell that is a button then */
function fillRows(table, figure, rows, leading, empty) {
  const body = table.tBodies[0];
  body.replaceChildren();
  table.classList.toggle("stacked", figure.isStacked);
  for (const { cells, go } of rows) {
    const row = body.insertRow();
    cells.forEach((content, at) => {
      const cell = row.insertCell();
      if (go && at === leading) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "link";
        button.append(content);
        cell.append(button);
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
    cell.colSpan = table.tHead.rows[0].cells.length;
    cell.textContent = empty;
  }
}

/** The longest waits of all tracks, for missing bytes and for credit. */
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

/** The longest times in which nothing was delivered. */
function fillStalls(table, figure) {
  const all = figure.tracks.flatMap((track) => longestStalls(track, LONGEST_STALLS).map((stall) => ({ track, ...stall })));
  const longest = all.sort((one, other) => other.end - other.start - one.end + one.start).slice(0, LONGEST_STALLS);
  const rows = longest.map(({ track, start, end, reason }) => ({
    cells: [track.short, milliseconds(start + track.offset), milliseconds(end - start), reason],
    go: () => figure.revealSpan(track, start, end, `nothing was delivered: ${reason}`),
  }));
  fillRows(table, figure, rows, 1, "Something was delivered in each round trip.");
}

/** Where the time of the flows went. */
function fillWhy(section, figure) {
  const known = figure.tracks.filter((track) => track.why);
  section.hidden = !known.length;
  const sentence = ({ name, why }) => {
    const done = why.completed ? "completed" : `not completed: ${why.unfinished}`;
    return `${figure.isStacked ? `${name}: ` : ""}${duration(why.end - why.start)}, ${done}`;
  };
  section.querySelector("p").replaceChildren(...known.map((track) => prose("div", sentence(track))));
  const rows = known.flatMap((track) => [
    ...track.why.causes.map((one) => whyRow(figure, track, one, "")),
    ...track.why.beside.map((one) => whyRow(figure, track, one, "at the same time: ")),
  ]);
  fillRows(section.querySelector("table"), figure, rows, 1, "Nothing took its time.");
}

function whyRow(figure, track, { name, share, length, longest: [start, end], what, advice }, before) {
  const hasStretch = end > start;
  const seconds = (time) => fixed(time / 1e9, 3);
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

/** A part of the time, as a number over a bar. */
function shareBar(share) {
  const element = document.createElement("span");
  element.className = "share";
  element.style.backgroundSize = `${100 * share}% 100%`;
  element.textContent = `${fixed(100 * share, 1)} %`;
  return element;
}

/** A text with names of options between backquotes, as an element. */
function prose(tag, text) {
  const element = document.createElement(tag);
  text.split("`").forEach((part, at) => {
    if (at % 2 === 0) element.append(part);
    else element.append(Object.assign(document.createElement("code"), { textContent: part }));
  });
  return element;
}

/** Fills all of them for what the figure shows. */
export function fillTables(figure) {
  const section = (id) => document.getElementById(id);
  fillWhy(section("why"), figure);
  fillStalls(section("stalls").querySelector("table"), figure);
  fillWaits(section("longest").querySelector("table"), figure);
}
