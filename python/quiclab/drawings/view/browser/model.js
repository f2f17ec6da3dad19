// One direction of a connection: packets, frames, streams, waits and gauges, as columns with their indexes.

import { Extremes, Shares, totals } from "./pyramid.js";
import { lowerBound, upperBound } from "./search.js";

/** @import { Columns } from "./columns.js" */
/** @import { DirectionFacts, Player } from "./facts.js" */

/** A time that is not known. */
const NEVER = NaN;

/** A stream, or the datagrams (id -1): `at` is its place, `shown` whether it is switched on.
 *  @typedef {{ at: number, id: number, bytes: number, retransmitted: number, shown: boolean, label: string }} Stream */

/** The values of a gauge, each with its time.
 *  @typedef {{ times: Float64Array, values: Float64Array, extremes: Extremes }} Series */

/** Packets of one direction, in the order in which they were sent. Times are nanoseconds since the start. */
export class Direction {
  /** @param {Columns} columns @param {string} prefix @param {DirectionFacts} facts @param {number} duration */
  constructor(columns, prefix, facts, duration) {
    this.facts = facts;
    /** What to add to a time for the one that the figure's axis shows. */
    this.clock = 0;
    this.duration = duration;
    /** @type {Player | undefined} */
    this.player = undefined;
    this.sendsData = false;
    /** When data was delivered, once that was asked. @type {{ times: Float64Array, isWhole: boolean } | undefined} */
    this.deliveries = undefined;
    this.sent = columns.sums(prefix + "sent");
    this.count = this.sent.length;
    this.number = columns.sums(prefix + "number");
    this.kind = columns.values(prefix + "kind");
    this.size = columns.values(prefix + "size");
    this.received = this.#after(columns.values(prefix + "received"));
    this.acknowledged = this.#after(columns.values(prefix + "acknowledged"));
    this.lost = this.#after(columns.values(prefix + "lost"));
    this.trigger = columns.values(prefix + "trigger");
    this.streams = facts.streams.map(readStream);

    const frames = readFrames(columns, prefix, this.streams);
    /** Of each packet the place of its first frame of stream data. */
    this.frameAt = frames.at;
    this.frameStream = frames.stream;
    this.frameOffset = frames.offset;
    this.frameLength = frames.length;
    this.frameFin = frames.fin;
    this.framePacket = owners(this.frameAt);
    this.ackAt = starts(columns.values(prefix + "acks"));
    this.ackDelay = columns.values(prefix + "frame.delay");
    const ranges = readRanges(columns, prefix);
    /** Of each acknowledgement the place of its first range. */
    this.rangeAt = ranges.at;
    this.rangeFirst = ranges.first;
    this.rangeLast = ranges.last;
    this.otherAt = starts(columns.values(prefix + "others"));
    this.otherText = columns.values(prefix + "frame.text");
    this.values = columns.values(prefix + "frame.value");
    /** Of each text the place of its first value. */
    this.valueAt = starts(this.otherText.map((text) => facts.texts[text].split("{}").length - 1));

    const arrivals = this.#arrivals();
    /** Packets by the time of their arrival, and of each stream the frames that arrived. */
    this.arrived = arrivals.packets;
    this.arrivalAt = arrivals.at;
    this.arrivalFrame = arrivals.frame;
    this.arrivalTime = new Float64Array(this.arrivalFrame).map((frame) => this.received[this.framePacket[frame]]);
    this.arrivalTotal = totals(new Float64Array(this.arrivalFrame).map((frame) => this.frameLength[frame]));

    this.againFrom = columns.sums(prefix + "again.from");
    this.againTo = columns.values(prefix + "again.to").map((more, at) => more + this.againFrom[at]);
    this.isAgain = new Uint8Array(this.count);
    for (const to of this.againTo) this.isAgain[to] = 1;
    this.weight = this.sent.map((_, packet) => this.bytes(packet));
    /** The place of the stream that has a packet's data alone; -1 if it has none, -2 if there are several. */
    this.only = new Int32Array(this.count).map((_, packet) => this.#only(packet));
    /** The packets that were lost or carry bytes again, and those that did not arrive. */
    this.marked = this.#packets((packet) => this.isLost(packet) || this.isAgain[packet] === 1);
    this.gone = this.#packets((packet) => !this.hasArrived(packet));
    this.weightTotal = totals(this.weight);
    /** Bytes by stream, whose place is one more than it is; 0 is for what belongs to none. */
    this.shares = new Shares(this.count, this.streams.length + 1, (packet, add) => this.parts(packet, (at, bytes) => add(at + 1, bytes)));

    this.waits = new Waits(columns, prefix + "waits.", this.streams.length);
    this.one = new Waits(columns, prefix + "one.", this.streams.length);
    /** At the sender: data that waits to be sent, and streams without credit; behind the last stream, the connection. */
    this.queued = new Waits(columns, prefix + "queued.", this.streams.length);
    this.blocked = new Waits(columns, prefix + "blocked.", this.streams.length + 1);
    this.metrics = readMetrics(columns, prefix, facts.metrics);
    this.lostCount = this.#packets((packet) => this.isLost(packet)).length;
    const delays = this.#delays();
    this.typicalDelay = delays.typical ?? duration / 100;
    this.maxDelay = delays.most;
  }

  /** @param {Float64Array} passed */
  #after(passed) {
    return passed.map((time, at) => (time === 0 ? NEVER : this.sent[at] + (time > 0 ? time - 1 : time)));
  }

  /** Packets by the time of their arrival, and of each stream the frames that arrived. */
  #arrivals() {
    const packets = this.#packets((packet) => this.hasArrived(packet))
      .sort((one, other) => this.received[one] - this.received[other] || one - other);
    const counts = new Uint32Array(this.streams.length);
    for (const packet of packets) {
      for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) counts[this.frameStream[frame]]++;
    }
    const at = starts(counts);
    const found = new Uint32Array(at[counts.length]);
    const next = at.slice();
    for (const packet of packets) {
      for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) found[next[this.frameStream[frame]]++] = frame;
    }
    return { packets, at, frame: found };
  }

  /** The typical delay from one end to the other, undefined if no packet arrived, and the longest.
   *  @returns {{ typical?: number, most: number }} */
  #delays() {
    const delays = this.received.map((time, packet) => time - this.sent[packet]);
    const some = delays.filter((delay, packet) => packet % 16 === 0 && !Number.isNaN(delay)).sort();
    return { typical: some[some.length >> 1], most: delays.reduce((most, delay) => Math.max(most, Number.isNaN(delay) ? 0 : delay), 0) };
  }

  /** The packets for which something holds, in their order.
   *  @param {(packet: number) => boolean} test */
  #packets(test) {
    const found = [];
    for (let packet = 0; packet < this.count; packet++) if (test(packet)) found.push(packet);
    return Uint32Array.from(found);
  }

  /** The place of the only stream of a packet, -1 for none, -2 for several.
   *  @param {number} packet */
  #only(packet) {
    const [from, to] = [this.frameAt[packet], this.frameAt[packet + 1]];
    return to === from ? -1 : to === from + 1 ? this.frameStream[from] : -2;
  }

  /** The parts of a packet: the stream's place, -1 for none, and the bytes, in which its header is divided too.
   *  @param {number} packet @param {(stream: number, bytes: number) => void} add */
  parts(packet, add) {
    if (this.only[packet] !== -2) {
      add(this.only[packet], this.weight[packet]);
      return;
    }
    const [from, to] = [this.frameAt[packet], this.frameAt[packet + 1]];
    const bytes = this.weight[packet];
    let data = 0;
    for (let frame = from; frame < to; frame++) data += this.frameLength[frame];
    if (data === 0) add(this.frameStream[from], bytes);
    else for (let frame = from; frame < to; frame++) add(this.frameStream[frame], (bytes * this.frameLength[frame]) / data);
  }

  /** Whether the sender declared a packet lost.
   *  @param {number} packet */
  isLost(packet) {
    return !Number.isNaN(this.lost[packet]);
  }

  /** Whether a packet arrived, as far as the logs say.
   *  @param {number} packet */
  hasArrived(packet) {
    return !Number.isNaN(this.received[packet]);
  }

  /** The bytes of a packet, or of its data if the log does not say.
   *  @param {number} packet */
  bytes(packet) {
    if (this.size[packet] >= 0) return this.size[packet];
    let sum = 0;
    for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) sum += this.frameLength[frame];
    return sum;
  }

  /** The packets that carry bytes of this one again.
   *  @param {number} packet */
  again(packet) {
    return this.againTo.subarray(lowerBound(this.againFrom, packet), upperBound(this.againFrom, packet));
  }

  /** The packets whose bytes this one carries again.
   *  @param {number} packet */
  before(packet) {
    const found = [];
    for (let at = this.againTo.indexOf(packet); at >= 0; at = this.againTo.indexOf(packet, at + 1)) found.push(this.againFrom[at]);
    return found;
  }

  /** Whether a packet has a frame of a stream, or of datagrams, for which this holds.
   *  @param {number} packet @param {(frame: number) => boolean} test */
  hasFrame(packet, test) {
    for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) if (test(frame)) return true;
    return false;
  }

  /** Whether a packet has more than acknowledgements, so that the receiver must acknowledge it.
   *  @param {number} packet */
  isElicited(packet) {
    return this.frameAt[packet + 1] > this.frameAt[packet] || this.otherAt[packet + 1] > this.otherAt[packet];
  }

  /** Whether anything is known of what waits at the sender. */
  get hasSending() {
    return this.queued.count + this.blocked.count > 0;
  }

  /** Whether a packet carries bytes of a stream.
   *  @param {number} packet @param {number} stream */
  carries(packet, stream) {
    for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) if (this.frameStream[frame] === stream) return true;
    return false;
  }

  /** The packets of a stream before and after a time, -1 where there is none within `most` packets.
   *  @param {number} stream @param {number} time @param {number} [most] */
  around(stream, time, most = 20000) {
    const from = upperBound(this.sent, time);
    let [before, after] = [from - 1, from];
    while (before >= Math.max(0, from - most) && !this.carries(before, stream)) before--;
    while (after < Math.min(this.count, from + most) && !this.carries(after, stream)) after++;
    return [before >= Math.max(0, from - most) ? before : -1, after < Math.min(this.count, from + most) ? after : -1];
  }

  /** The last value of a gauge at a time; undefined before the first.
   *  @param {string} name @param {number} time */
  gauge(name, time) {
    const series = this.metrics.get(name);
    return series?.values[upperBound(series.times, time) - 1];
  }
}

/** @param {[id: number, bytes: number, retransmitted: number]} facts @param {number} at @returns {Stream} */
function readStream([id, bytes, retransmitted], at) {
  return { at, id, bytes, retransmitted, shown: true, label: id < 0 ? "datagrams" : `stream ${id}` };
}

/** The frames of stream data: of each packet the place of its first, and of each frame its stream, offset, length and FIN.
 *  @param {Columns} columns @param {string} prefix @param {Stream[]} streams */
function readFrames(columns, prefix, streams) {
  const at = starts(columns.values(prefix + "streams"));
  const stream = columns.values(prefix + "frame.stream");
  const offset = columns.values(prefix + "frame.offset");
  const packed = columns.values(prefix + "frame.length");
  const length = packed.map((value) => Math.floor(value / 2));
  const expected = new Float64Array(streams.length);
  stream.forEach((of, frame) => {
    offset[frame] += expected[of];
    if (streams[of].id >= 0) expected[of] = offset[frame] + length[frame];
  });
  return { at, stream, offset, length, fin: new Uint8Array(packed.map((value) => value % 2)) };
}

/** The ranges of acknowledgements: of each acknowledgement the place of its first, and of each range both of its ends.
 *  @param {Columns} columns @param {string} prefix */
function readRanges(columns, prefix) {
  const counts = columns.values(prefix + "frame.ranges");
  const at = starts(counts);
  const first = new Float64Array(at[counts.length]);
  const last = new Float64Array(at[counts.length]);
  const largests = columns.values(prefix + "frame.largest");
  const steps = columns.values(prefix + "frame.range");
  let [nextLargest, nextStep, largest] = [0, 0, 0];
  for (let ack = 0; ack < counts.length; ack++) {
    let number = largest;
    for (let range = at[ack]; range < at[ack + 1]; range++) {
      const isFirst = range === at[ack];
      number += isFirst ? largests[nextLargest++] : steps[nextStep++];
      if (isFirst) largest = number;
      last[range] = number;
      number -= steps[nextStep++];
      first[range] = number;
    }
  }
  return { at, first, last };
}

/** The series of gauges by their names.
 *  @param {Columns} columns @param {string} prefix @param {string[]} names @returns {Map<string, Series>} */
function readMetrics(columns, prefix, names) {
  return new Map(names.map((name) => {
    const values = columns.sums(`${prefix}metric.${name}.value`);
    return [name, { times: columns.sums(`${prefix}metric.${name}.time`), values, extremes: new Extremes(values) }];
  }));
}

/** Spans of waiting, for each stream in the order of time. */
export class Waits {
  /** @param {Columns} columns @param {string} prefix @param {number} streams */
  constructor(columns, prefix, streams) {
    const stream = columns.values(prefix + "stream");
    const all = {
      start: columns.sums(prefix + "start"),
      length: columns.values(prefix + "length"),
      missing: columns.sums(prefix + "missing"),
      filled: columns.sums(prefix + "filled"),
      offset: columns.values(prefix + "offset"),
      held: columns.values(prefix + "held"),
    };
    this.count = stream.length;
    const counts = new Uint32Array(streams);
    for (const at of stream) counts[at]++;
    /** Where the spans of a stream begin. */
    this.at = starts(counts);
    this.stream = new Uint32Array(this.count);
    this.start = new Float64Array(this.count);
    this.end = new Float64Array(this.count);
    /** The packet that was missing and the one that ended the wait, -1 for none. */
    this.missing = new Float64Array(this.count);
    this.filled = new Float64Array(this.count);
    this.offset = new Float64Array(this.count);
    this.held = new Float64Array(this.count);
    const next = this.at.slice();
    this.total = 0;
    for (let from = 0; from < this.count; from++) {
      const to = next[stream[from]]++;
      this.stream[to] = stream[from];
      this.start[to] = all.start[from];
      this.end[to] = all.start[from] + all.length[from];
      this.missing[to] = all.missing[from];
      this.filled[to] = all.filled[from];
      this.offset[to] = all.offset[from];
      this.held[to] = all.held[from];
      this.total += all.length[from];
    }
    /** All spans by their starts. */
    this.order = Uint32Array.from(this.start.keys()).sort((one, other) => this.start[one] - this.start[other] || one - other);
  }

  /** The span of a stream at a time; -1 if it does not wait. `slack` widens the spans.
   *  @param {number} stream @param {number} time @param {number} [slack] */
  find(stream, time, slack = 0) {
    const to = this.at[stream + 1];
    const at = lowerBound(this.end, time - slack, this.at[stream], to);
    return at < to && this.start[at] <= time + slack ? at : -1;
  }
}

/** Where each part begins, from the numbers of their elements; one more for the end.
 *  @param {ArrayLike<number>} counts */
function starts(counts) {
  const out = new Uint32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at++) out[at + 1] = out[at] + counts[at];
  return out;
}

/** The part that each element belongs to.
 *  @param {Uint32Array} at */
function owners(at) {
  const out = new Uint32Array(at[at.length - 1]);
  for (let part = 0; part + 1 < at.length; part++) out.fill(part, at[part], at[part + 1]);
  return out;
}
