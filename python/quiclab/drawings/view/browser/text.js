// Numbers, times, packets and waits in words.

/** @import { Direction, Waits } from "./model.js" */

/** Formats by their decimals: to make one takes long. */
const FORMATS = new Map();

/** A number with so many decimals, and separated thousands.
 *  @param {number} value @param {number} digits */
export function fixed(value, digits) {
  let format = FORMATS.get(digits);
  if (!format) {
    format = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    FORMATS.set(digits, format);
  }
  // No minus before what is rounded to zero.
  return format.format(value).replace(/^-(?=[0.]+$)/, "");
}

/** A number with three digits, and all digits before the point: 1.20, 14.7, 667, 1,234.
 *  @param {number} value */
export function significant(value) {
  const rounded = Number(value.toPrecision(3));
  const digits = rounded === 0 ? 2 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
  // Rounded once: 9.995 is 9.99 or 10.0, but not 10.00.
  return fixed(digits > 0 ? rounded : value, digits);
}

/** An integer with separated thousands.
 *  @param {number} value */
export function integer(value) {
  return fixed(value, 0);
}

/** One and its noun, or several and theirs.
 *  @param {number} count @param {string} one @param {string} [several] */
export function plural(count, one, several = `${one}s`) {
  return `${integer(count)} ${count === 1 ? one : several}`;
}

/** Nanoseconds as milliseconds, to the microsecond.
 *  @param {number} time */
export function milliseconds(time) {
  return fixed(time / 1e6, 3);
}

/** A value with three digits and the largest unit of which it is at least one; `rest` is the unit of 1.
 *  @param {number} value @param {[unit: string, factor: number][]} units @param {string} rest */
function withUnit(value, units, rest) {
  for (const [unit, factor] of units) {
    if (Math.abs(Number((value / factor).toPrecision(3))) >= 1) return `${significant(value / factor)} ${unit}`;
  }
  return `${integer(value)} ${rest}`;
}

/** A duration in nanoseconds with three digits and its unit.
 *  @param {number} time */
export function duration(time) {
  return withUnit(time, [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]], "ns");
}

/** Bytes with three digits and a decimal unit.
 *  @param {number} bytes */
export function size(bytes) {
  return withUnit(bytes, [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]], "B");
}

/** A rate in bit/s with three digits and its unit.
 *  @param {number} bits */
export function rate(bits) {
  return withUnit(bits, [["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3]], "bit/s");
}

/** What became of a packet.
 *  @param {Direction} direction @param {number} packet */
export function state(direction, packet) {
  const arrived = direction.facts.hasReceiver && direction.hasArrived(packet);
  if (direction.isLost(packet)) {
    const isAcknowledged = !Number.isNaN(direction.acknowledged[packet]);
    return arrived || isAcknowledged ? "declared lost, but arrived" : "lost";
  }
  if (!Number.isNaN(direction.acknowledged[packet])) return "acknowledged";
  if (arrived) return "arrived";
  return direction.facts.hasSender ? "not acknowledged" : "arrived";
}

/** The frames of a packet, a text for each.
 *  @param {Direction} direction @param {number} packet */
export function frames(direction, packet) {
  const texts = [];
  for (let ack = direction.ackAt[packet]; ack < direction.ackAt[packet + 1]; ack++) {
    const from = direction.rangeAt[ack];
    const to = direction.rangeAt[ack + 1];
    const ranges = [];
    for (let at = from; at < Math.min(to, from + 8); at++) {
      const [first, last] = [direction.rangeFirst[at], direction.rangeLast[at]];
      ranges.push(first === last ? `${first}` : `${first}\u2013${last}`);
    }
    const more = to - from > 8 ? ` and ${to - from - 8} more` : "";
    texts.push(`ACK ${ranges.join(", ")}${more} (delay ${duration(direction.ackDelay[ack])})`);
  }
  for (let other = direction.otherAt[packet]; other < direction.otherAt[packet + 1]; other++) {
    let value = direction.valueAt[other];
    texts.push(direction.facts.texts[direction.otherText[other]].replace(/\{\}/g, () => integer(direction.values[value++])));
  }
  for (let frame = direction.frameAt[packet]; frame < direction.frameAt[packet + 1]; frame++) {
    const stream = direction.streams[direction.frameStream[frame]];
    const bytes = `${integer(direction.frameLength[frame])} B`;
    const place = `STREAM ${stream.id}, offset ${integer(direction.frameOffset[frame])}, ${bytes}`;
    texts.push(stream.id < 0 ? `DATAGRAM ${bytes}` : place + (direction.frameFin[frame] ? ", FIN" : ""));
  }
  return texts;
}

/** What a wait was for: the packet, its fate, and with which one the wait ended.
 *  @param {Direction} direction @param {Waits} waits @param {number} at */
export function cause(direction, waits, at) {
  const [missing, filled] = [waits.missing[at], waits.filled[at]];
  /** @param {number} packet */
  const name = (packet) => direction.number[packet];
  let text;
  if (missing < 0) {
    text = direction.facts.hasSender ? "bytes that were not sent" : "bytes of an unknown packet";
  } else {
    text = `packet ${name(missing)}`;
    if (missing === filled) {
      text += direction.isLost(missing) ? ", declared lost, but late" : ", late";
      return text;
    }
    text += direction.hasArrived(missing) ? ", late" : direction.isLost(missing) ? ", lost" : ", not arrived";
  }
  if (filled < 0) return `${text}, until the end`;
  // Copies of the missing bytes that were lost too, on the way to the one that arrived.
  const failed = [];
  for (let packet = missing, steps = 0; missing >= 0 && steps < 4; steps++) {
    const next = direction.again(packet).find((copy) => copy < filled && !direction.hasArrived(copy));
    if (next === undefined) break;
    failed.push(next);
    packet = next;
  }
  if (failed.length) text += `, retransmitted as ${failed.map(name).join(", ")} (lost too)`;
  if (!direction.isAgain[filled]) return `${text}, ended by packet ${name(filled)}`;
  return `${text}, ${failed.length ? "then" : "retransmitted"} as ${name(filled)}`;
}
