// The start of the page: reads the data, builds what is around the figure, and keeps it in step.

import { Bottleneck } from "./bottleneck.js";
import { Chooser } from "./chooser.js";
import { unpack } from "./columns.js";
import { Figure } from "./figure.js";
import { Finder } from "./find.js";
import { listen, reset } from "./input.js";
import { prepareKeys } from "./keys.js";
import { fillLegend } from "./legend.js";
import { Direction } from "./model.js";
import { keepSpoken } from "./spoken.js";
import { fillTables } from "./tables.js";
import { duration, fixed, integer, plural, size } from "./text.js";
import { describe } from "./tip.js";

const byId = (id) => document.getElementById(id);

/** What there is in a direction, as a sentence. */
function summarise(direction) {
  const { facts, waits, one } = direction;
  if (!direction.count) return `no packets, but congestion control of the ${facts.sender}`;
  const lost = `${integer(direction.lostCount)} declared lost (${fixed((100 * direction.lostCount) / Math.max(1, direction.count), 2)} %)`;
  const streams = direction.streams.filter((stream) => stream.id >= 0);
  const bytes = streams.reduce((sum, stream) => sum + stream.bytes, 0);
  return [
    `${plural(direction.count, "packet")} from the ${facts.sender}`,
    facts.hasSender ? lost : null,
    `${plural(streams.length, "stream")} with ${size(bytes)}`,
    (waits.count ? `${plural(waits.count, "wait")}, ${duration(waits.total)} in all streams together` : "no stream waited")
      + (facts.hasSender && one.count ? `; as one byte stream it would have been ${duration(one.total)}` : ""),
    direction.blocked.count ? `without credit ${plural(direction.blocked.count, "time")}, ${duration(direction.blocked.total)}` : null,
  ].filter(Boolean).join(" \u00b7 ");
}

/** What the page has, made when it is asked for. */
class Content {
  constructor(facts, columns) {
    this.facts = facts;
    this.columns = columns;
    this.directions = new Map();
    this.bottlenecks = new Map();
  }

  /** What the figure needs for one direction of a connection. */
  shown(at, side) {
    const connection = this.facts.connections[at];
    const direction = this.#direction(at, side);
    direction.player = connection.player;
    direction.sendsData = connection.dataSender ? direction.facts.sender === connection.dataSender : side === 0;
    const { start, name } = connection;
    const isOnTheWay = direction.sendsData && connection.bottleneck;
    return {
      direction,
      start,
      name: `${name}, from the ${direction.facts.sender}`,
      flow: name,
      short: `${name} ${direction.facts.sender}`,
      bottleneck: isOnTheWay ? this.#bottleneck(connection.bottleneck) : undefined,
      why: direction.sendsData && connection.why ? this.#why(connection.why) : undefined,
      notes: [...connection.notes, ...direction.facts.notes],
    };
  }

  #direction(at, side) {
    const prefix = `${at}.${side}.`;
    if (!this.directions.has(prefix)) {
      const connection = this.facts.connections[at];
      this.directions.set(prefix, new Direction(this.columns, prefix, connection.directions[side], connection.duration));
    }
    return this.directions.get(prefix);
  }

  #why(why) {
    why.spans ??= Object.fromEntries(["start", "end", "cause"].map((part) => [part, this.columns.sums(why.prefix + part)]));
    return why;
  }

  #bottleneck(name) {
    if (!this.bottlenecks.has(name)) this.bottlenecks.set(name, new Bottleneck(this.columns, name, this.facts.bottlenecks[name]));
    return this.bottlenecks.get(name);
  }
}

async function main() {
  const facts = JSON.parse(byId("facts").textContent);
  const content = new Content(facts, await unpack(byId("columns").textContent, facts.columns));
  byId("version").textContent = facts.version;
  const figure = new Figure(byId("figure"));
  const elements = ["go", "search", "next", "previous", "found", "marked", "words"].map((id) => [id, byId(id)]);
  const finder = new Finder(figure, { form: byId("find"), ...Object.fromEntries(elements) });
  keepSpoken(figure);
  prepareKeys(byId("keys"), byId("show-keys"));
  let updateLegend = () => {};

  const show = (chosen) => {
    const shown = chosen.map(([at, side]) => content.shown(at, side));
    byId("summary").replaceChildren(...shown.map(({ direction, flow }) => {
      const line = document.createElement("div");
      line.textContent = (chosen.length > 1 ? `${flow}: ` : "") + summarise(direction);
      return line;
    }));
    const notes = [...new Set([...facts.notes, ...shown.flatMap((each) => each.notes)])];
    byId("notes").textContent = notes.join(" \u00b7 ");
    byId("notes").hidden = !notes.length;
    figure.show(shown);
    byId("legend").hidden = figure.isStacked;
    updateLegend = figure.isStacked ? () => {} : fillLegend(byId("legend"), figure);
    figure.resize();
    finder.reset();
    fillTables(figure);
  };

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
  new Chooser(facts.connections, show).start();
  listen(figure);
  // For the tests and for the curious: the figure, and the words of the tip for anything in it.
  window.quiclab = { figure, describe: (target) => describe(figure.direction, target) };
}

main().catch((error) => {
  byId("summary").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
