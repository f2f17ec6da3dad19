// The start of the page: reads the data, builds what is around the figure, and keeps it in step.

import { unpack } from "./columns.js";
import { Figure } from "./figure.js";
import { listen, reset } from "./input.js";
import { fillLegend } from "./legend.js";
import { Direction } from "./model.js";
import { cause, duration, integer, milliseconds, size } from "./text.js";
import { describe } from "./tip.js";

const LONGEST = 20;

const byId = (id) => document.getElementById(id);

/** Fills a choice with texts. */
function fillChoice(select, texts) {
  select.replaceChildren(...texts.map((text, at) => new Option(text, String(at))));
}

/** What there is in a direction, as a sentence. */
function summarise(direction) {
  const { facts, waits, one } = direction;
  if (!direction.count) return `no packets, but congestion control of the ${facts.sender}`;
  const lost = `${integer(direction.lostCount)} declared lost (${((100 * direction.lostCount) / Math.max(1, direction.count)).toFixed(2)} %)`;
  const streams = direction.streams.filter((stream) => stream.id >= 0);
  const bytes = streams.reduce((sum, stream) => sum + stream.bytes, 0);
  return [
    `${integer(direction.count)} packets from the ${facts.sender}`,
    facts.hasSender ? lost : null,
    `${integer(streams.length)} ${streams.length === 1 ? "stream" : "streams"} with ${size(bytes)}`,
    (waits.count ? `${integer(waits.count)} ${waits.count === 1 ? "wait" : "waits"}, ${duration(waits.total)} in all streams together` : "no stream waited")
      + (facts.hasSender && one.count ? `; as one byte stream it would have been ${duration(one.total)}` : ""),
    direction.blocked.count ? `without credit ${integer(direction.blocked.count)} ${direction.blocked.count === 1 ? "time" : "times"}, ${duration(direction.blocked.total)}` : null,
  ].filter(Boolean).join(" \u00b7 ");
}

/** The table of the longest waits; each leads to its place in the figure. */
function fillLongest(body, figure) {
  const { direction } = figure;
  const length = ({ waits, span }) => waits.end[span] - waits.start[span];
  const all = [direction.waits, direction.blocked].flatMap((waits) => Array.from(waits.order, (span) => ({ waits, span })));
  const longest = all.sort((a, b) => length(b) - length(a)).slice(0, LONGEST);
  body.replaceChildren(...longest.map(({ waits, span }) => {
    const row = document.createElement("tr");
    const isCredit = waits === direction.blocked;
    const texts = [
      direction.streams[waits.stream[span]]?.id ?? "all",
      milliseconds(waits.start[span]),
      milliseconds(length({ waits, span })),
      isCredit ? "" : integer(waits.held[span]),
      isCredit ? `credit to send more than ${integer(waits.offset[span])} B` : cause(direction, waits, span),
    ];
    texts.forEach((text) => (row.insertCell().textContent = text));
    row.tabIndex = 0;
    const go = () => {
      figure.reveal(waits, span);
      figure.element.scrollIntoView({ block: "nearest" });
    };
    row.addEventListener("click", go);
    row.addEventListener("keydown", (event) => event.key === "Enter" && go());
    return row;
  }));
  if (!longest.length) body.insertRow().insertCell().textContent = "no stream waited";
}

async function main() {
  const facts = JSON.parse(byId("facts").textContent);
  const columns = await unpack(byId("columns").textContent, facts.columns);
  byId("version").textContent = facts.version;
  const figure = new Figure(byId("figure"));
  const directions = new Map();
  let updateLegend = () => {};

  const show = () => {
    const [at, side] = [Number(byId("connection").value), Number(byId("direction").value)];
    const connection = facts.connections[at];
    const prefix = `${at}.${side}.`;
    if (!directions.has(prefix)) {
      directions.set(prefix, new Direction(columns, prefix, connection.directions[side], connection.duration));
    }
    const direction = directions.get(prefix);
    direction.player = connection.player;
    byId("summary").textContent = summarise(direction);
    const notes = [...facts.notes, ...connection.notes, ...direction.facts.notes];
    byId("notes").textContent = notes.join(" \u00b7 ");
    byId("notes").hidden = !notes.length;
    figure.show(direction);
    updateLegend = fillLegend(byId("legend"), figure);
    figure.resize();
    fillLongest(document.querySelector("#longest tbody"), figure);
  };
  const choose = () => {
    const connection = facts.connections[Number(byId("connection").value)];
    fillChoice(byId("direction"), connection.directions.map((direction) => direction.sender));
    show();
  };

  fillChoice(byId("connection"), facts.connections.map((connection) => connection.name));
  byId("connection-choice").hidden = facts.connections.length < 2;
  byId("connection").addEventListener("change", choose);
  byId("direction").addEventListener("change", show);
  byId("one-stream").addEventListener("change", (event) => {
    figure.compares = event.target.checked;
    figure.invalidate();
  });
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = figure.colours.isDark ? "light" : "dark";
    figure.theme();
    updateLegend();
  });
  byId("reset").addEventListener("click", () => reset(figure));
  window.addEventListener("resize", () => figure.resize());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    figure.theme();
    updateLegend();
  });
  choose();
  listen(figure);
  // For the tests and for the curious: the figure, and the words of the tip for anything in it.
  window.quiclab = { figure, describe: (target) => describe(figure.direction, target) };
}

main().catch((error) => {
  byId("summary").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
