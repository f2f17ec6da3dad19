// The start of the page: reads the data, builds what is around the figure, and keeps it in step.

import { Bottleneck } from "./bottleneck.js";
import { Chooser } from "./chooser.js";
import { unpack } from "./columns.js";
import { byId } from "./elements.js";
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

/** @import { Columns } from "./columns.js" */
/** @import { PageFacts, WhyFacts } from "./facts.js" */
/** @import { Target, Why } from "./panels.js" */

/** What there is in a direction, as a sentence.
 *  @param {Direction} direction */
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
  /** @param {PageFacts} facts @param {Columns} columns */
  constructor(facts, columns) {
    this.facts = facts;
    this.columns = columns;
    /** @type {Map<string, Direction>} */
    this.directions = new Map();
    /** @type {Map<string, Bottleneck>} */
    this.bottlenecks = new Map();
    /** @type {Map<WhyFacts, Why>} */
    this.whys = new Map();
  }

  /** What the figure needs for one direction of a connection.
   *  @param {number} at @param {number} side */
  shown(at, side) {
    const connection = this.facts.connections[at];
    const direction = this.#direction(at, side);
    direction.player = connection.player;
    direction.sendsData = connection.dataSender ? direction.facts.sender === connection.dataSender : side === 0;
    const { start, name } = connection;
    const bottleneck = direction.sendsData ? connection.bottleneck : undefined;
    return {
      direction,
      start,
      name: `${name}, from the ${direction.facts.sender}`,
      flow: name,
      short: `${name} ${direction.facts.sender}`,
      bottleneck: bottleneck ? this.#bottleneck(bottleneck) : undefined,
      why: direction.sendsData && connection.why ? this.#why(connection.why) : undefined,
      notes: [...connection.notes, ...direction.facts.notes],
    };
  }

  /** @param {number} at @param {number} side */
  #direction(at, side) {
    const prefix = `${at}.${side}.`;
    const { directions, duration } = this.facts.connections[at];
    return kept(this.directions, prefix, () => new Direction(this.columns, prefix, directions[side], duration));
  }

  /** @param {WhyFacts} why */
  #why(why) {
    /** @param {string} part */
    const column = (part) => this.columns.sums(why.prefix + part);
    return kept(this.whys, why, () => ({ ...why, spans: { start: column("start"), end: column("end"), cause: column("cause") } }));
  }

  /** @param {string} name */
  #bottleneck(name) {
    return kept(this.bottlenecks, name, () => new Bottleneck(this.columns, name, this.facts.bottlenecks[name]));
  }
}

/** The value of a key, made when it is first asked for.
 *  @template Key, Value
 *  @param {Map<Key, Value>} values @param {Key} key @param {() => Value} make */
function kept(values, key, make) {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  return made;
}

async function main() {
  /** @type {PageFacts} */
  const facts = JSON.parse(byId("facts", HTMLScriptElement).text);
  const content = new Content(facts, await unpack(byId("columns", HTMLScriptElement).text, facts.columns));
  byId("version", HTMLElement).textContent = facts.version;
  const figure = new Figure(byId("figure", HTMLElement));
  const finder = new Finder(figure, {
    form: byId("find", HTMLElement), go: byId("go", HTMLInputElement), search: byId("search", HTMLInputElement),
    next: byId("next", HTMLButtonElement), previous: byId("previous", HTMLButtonElement), found: byId("found", HTMLElement),
    marked: byId("marked", HTMLElement), words: byId("words", HTMLElement),
  });
  keepSpoken(figure);
  prepareKeys(byId("keys", HTMLDialogElement), byId("show-keys", HTMLElement));
  let updateLegend = () => {};

  /** @param {[at: number, side: number][]} chosen */
  const show = (chosen) => {
    const shown = chosen.map(([at, side]) => content.shown(at, side));
    byId("summary", HTMLElement).replaceChildren(...shown.map(({ direction, flow }) => {
      const line = document.createElement("div");
      line.textContent = (chosen.length > 1 ? `${flow}: ` : "") + summarise(direction);
      return line;
    }));
    const noted = byId("notes", HTMLElement);
    const notes = [...new Set([...facts.notes, ...shown.flatMap((each) => each.notes)])];
    noted.textContent = notes.join(" \u00b7 ");
    noted.hidden = !notes.length;
    figure.show(shown);
    const legend = byId("legend", HTMLElement);
    legend.hidden = figure.isStacked;
    updateLegend = figure.isStacked ? () => {} : fillLegend(legend, figure);
    figure.resize();
    finder.reset();
    fillTables(figure);
  };

  const oneStream = byId("one-stream", HTMLInputElement);
  oneStream.addEventListener("change", () => {
    figure.compares = oneStream.checked;
    figure.invalidate();
  });
  byId("theme", HTMLElement).addEventListener("click", () => {
    document.documentElement.dataset.theme = figure.colours.isDark ? "light" : "dark";
    figure.theme();
    updateLegend();
  });
  byId("reset", HTMLElement).addEventListener("click", () => reset(figure));
  window.addEventListener("resize", () => figure.resize());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    figure.theme();
    updateLegend();
  });
  new Chooser(facts.connections, show).start();
  listen(figure);
  // For the tests and for the curious: the figure, and the words of the tip for anything in it.
  Object.assign(window, { quiclab: { figure, describe: (/** @type {Target} */ target) => describe(figure.direction, target) } });
}

main().catch((error) => {
  byId("summary", HTMLElement).textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
