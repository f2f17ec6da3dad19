// Going to a packet by its number, and the search for packets by words.

import { link } from "./elements.js";
import { Found } from "./found.js";
import { describe } from "./tip.js";
import { integer, plural, state } from "./text.js";

/** @import { Figure } from "./figure.js" */
/** @import { Direction } from "./model.js" */
/** @import { Track } from "./track.js" */

/** Whether a packet, by its place, has something.
 *  @typedef {(packet: number) => boolean} Test */

/** The controls.
 *  @typedef {{ form: HTMLElement, go: HTMLInputElement, search: HTMLInputElement, next: HTMLButtonElement,
 *    previous: HTMLButtonElement, found: HTMLElement, marked: HTMLElement, words: HTMLElement }} Elements */

/** Words with a meaning of their own.
 *  @type {Record<string, (direction: Direction) => Test>} */
const WORDS = {
  lost: (direction) => (packet) => direction.isLost(packet),
  again: (direction) => (packet) => direction.isAgain[packet] === 1,
  spurious: (direction) => (packet) => direction.isLost(packet) && state(direction, packet) !== "lost",
  ack: (direction) => (packet) => direction.ackAt[packet + 1] > direction.ackAt[packet],
  stream: (direction) => (packet) => direction.hasFrame(packet, (frame) => direction.streams[direction.frameStream[frame]].id >= 0),
  datagram: (direction) => (packet) => direction.hasFrame(packet, (frame) => direction.streams[direction.frameStream[frame]].id < 0),
  fin: (direction) => (packet) => direction.hasFrame(packet, (frame) => direction.frameFin[frame] === 1),
};

/** The packets of a direction that have all of the words: their places in order. A word that nothing has is named.
 *  @param {Direction} direction @param {string} text
 *  @returns {{ packets: Uint32Array, unknown?: string }} */
export function search(direction, text) {
  const tests = [];
  const words = text.trim().toLowerCase().replace(/\bstream[ :=]+(?=\d)/g, "stream:").split(/\s+/).filter(Boolean);
  for (const word of words) {
    const test = meaning(direction, word);
    if (!test) return { packets: new Uint32Array(0), unknown: word };
    tests.push(test);
  }
  const packets = [];
  for (let packet = 0; tests.length && packet < direction.count; packet++) if (tests.every((test) => test(packet))) packets.push(packet);
  return { packets: Uint32Array.from(packets) };
}

/** What a word asks of a packet; undefined if no packet can have it.
 *  @param {Direction} direction @param {string} word @returns {Test | undefined} */
function meaning(direction, word) {
  if (Object.hasOwn(WORDS, word)) return WORDS[word](direction);
  if (/^\d+$/.test(word)) return (packet) => direction.number[packet] === Number(word);
  const stream = /^stream:(\d+)$/.exec(word);
  if (stream) {
    const at = direction.streams.findIndex(({ id }) => id === Number(stream[1]));
    return at < 0 ? undefined : (packet) => direction.carries(packet, at);
  }
  const plain = word.replace(/_/g, " ");
  /** @param {string[]} texts */
  const having = (texts) => new Set([...texts.keys()].filter((at) => texts[at].toLowerCase().replace(/_/g, " ").includes(plain)));
  const [kinds, triggers, texts] = [direction.facts.kinds, direction.facts.triggers, direction.facts.texts].map(having);
  if (!kinds.size && !triggers.size && !texts.size) return undefined;
  return (packet) => {
    if (kinds.has(direction.kind[packet]) || (direction.isLost(packet) && triggers.has(direction.trigger[packet]))) return true;
    for (let other = direction.otherAt[packet]; other < direction.otherAt[packet + 1]; other++) if (texts.has(direction.otherText[other])) return true;
    return false;
  };
}

/** The controls for it: they keep what was found, and where in it one is. */
export class Finder {
  /** @param {Figure} figure @param {Elements} elements */
  constructor(figure, elements) {
    this.figure = figure;
    this.elements = elements;
    this.found = new Found([]);
    const { form, go, search: words, next, previous } = elements;
    form.addEventListener("submit", (event) => event.preventDefault());
    go.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.goTo(go.value);
      if (event.key === "Escape") figure.element.focus();
    });
    words.addEventListener("input", () => this.search());
    words.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      if (event.key !== "Escape") return;
      words.value = "";
      this.search();
      figure.element.focus();
    });
    next.addEventListener("click", () => this.step(1));
    previous.addEventListener("click", () => this.step(-1));
    figure.onKept = () => this.#tell();
  }

  /** Another direction is shown: what was searched for is searched there. */
  reset() {
    this.elements.words.replaceChildren(...this.#known().map((word) => new Option(word, word)));
    this.search();
  }

  /** The words that packets here can have. */
  #known() {
    const { facts, streams } = this.figure.direction;
    const texts = [...facts.kinds, ...facts.triggers, ...facts.texts.map((text) => /^[A-Z_]+/.exec(text)?.[0] ?? "")];
    const ids = streams.filter(({ id }) => id >= 0).slice(0, 50).map(({ id }) => `stream ${id}`);
    return [...new Set([...Object.keys(WORDS), ...texts.map((text) => text.toLowerCase()), ...ids])].filter(Boolean);
  }

  /** Goes to the packet with a number; asked again, to the next one: each packet number space begins at 0.
   *  @param {string} text */
  goTo(text) {
    const { figure } = this;
    const number = Number(text.replace(/[\s,]/g, ""));
    const tracks = [figure.track, ...figure.tracks.filter((track) => track !== figure.track)];
    const all = tracks.flatMap((track) => this.#numbered(track, number));
    if (!text.trim() || !all.length) {
      this.elements.found.textContent = text.trim() ? `no packet ${text.trim()}` : "";
      return;
    }
    const now = all.findIndex(({ track, packet }) => this.#isKept(track, packet));
    const { track, packet } = all[(now + 1) % all.length];
    this.elements.found.textContent = all.length > 1 ? `${integer(((now + 1) % all.length) + 1)} of ${plural(all.length, "packet")} ${number}` : "";
    figure.revealPacket(track, packet);
  }

  /** The packets of a track with a number, those with data first.
   *  @param {Track} track @param {number} number */
  #numbered(track, number) {
    const found = [];
    const { direction } = track;
    for (let packet = direction.number.indexOf(number); packet >= 0; packet = direction.number.indexOf(number, packet + 1)) found.push({ track, packet });
    return found.reverse();
  }

  /** @param {Track} track @param {number} packet */
  #isKept(track, packet) {
    const { kept } = this.figure;
    return kept?.kind === "packet" && kept.track === track && kept.packet === packet;
  }

  /** Searches, and tells how many packets there are. */
  search() {
    const { figure, elements } = this;
    const text = elements.search.value;
    const results = figure.tracks.map((track) => ({ track, ...search(track.direction, text) }));
    figure.found = new Map(results.map(({ track, packets }) => [track, packets]));
    this.found = new Found([...figure.found]);
    elements.next.disabled = elements.previous.disabled = !this.found.count;
    const unknown = results.every((result) => result.unknown) ? results[0].unknown : undefined;
    elements.found.textContent = !text.trim() ? "" : unknown ? `nothing here has the word \u201c${unknown}\u201d` : plural(this.found.count, "packet");
    figure.mark();
  }

  /** Goes to the next found packet, or with -1 to the one before, from what is marked or the left edge on.
   *  @param {number} by */
  step(by) {
    const { figure, found } = this;
    const { kept, time } = figure;
    const place = found.step(kept?.kind === "packet" ? kept : { time: time.start }, by);
    if (!place) return;
    figure.revealPacket(place.track, place.packet);
    this.elements.found.textContent = `${integer(found.rank(place))} of ${plural(found.count, "packet")}`;
  }

  /** What is marked, in words, with the packets that it leads to. */
  #tell() {
    const { kept } = this.figure;
    const { marked } = this.elements;
    marked.replaceChildren();
    if (!kept) {
      marked.textContent = "Nothing is marked.";
      return;
    }
    const { direction } = kept.track;
    const [heading, ...rest] = describe(direction, kept).slice(0, 4);
    marked.append(`${this.figure.isStacked ? `${kept.track.name}: ` : ""}${heading}`);
    /** @param {string} text @param {number[]} packets */
    const lead = (text, packets) => {
      if (!packets.length) return;
      marked.append(` \u00b7 ${text}`, ...packets.slice(0, 6).flatMap((packet) => [" ", this.#link(kept.track, packet)]));
    };
    if (kept.kind === "packet") {
      lead("retransmitted by", Array.from(direction.again(kept.packet)));
      lead("retransmits bytes of", direction.before(kept.packet));
    }
    marked.append(...rest.map((line) => ` \u00b7 ${line}`));
  }

  /** @param {Track} track @param {number} packet */
  #link(track, packet) {
    return link(() => this.figure.revealPacket(track, packet), `packet ${track.direction.number[packet]}`);
  }
}
