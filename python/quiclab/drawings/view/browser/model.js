// One direction of a connection: packets, frames, streams, waits and gauges, as columns with their indexes.

import { Extremes, Shares, totals } from "./pyramid.js";
import { lowerBound, upperBound } from "./search.js";

/** A time that is not known. */
const NEVER = NaN;

/** Packets of one direction, in the order in which they were sent. Times are nanoseconds since the start. */
export class Direction {
  constructor(columns, prefix, facts, duration) {
    this.facts = facts;
    /** What to add to a time for the one that the figure's axis shows. */
    this.clock = 0;
    this.duration = duration;
    this.sent = columns.sums(prefix + "sent");
    this.count = this.sent.length;
    this.number = columns.sums(prefix + "number");
    this.kind = columns.values(prefix + "kind");
    this.size = columns.values(prefix + "size");
    this.received = this.#after(columns.values(prefix + "received"));
    this.acknowledged = this.#after(columns.values(prefix + "acknowledged"));
    this.lost = this.#after(columns.values(prefix + "lost"));
    this.trigger = columns.values(prefix + "trigger");
    this.streams = facts.streams.map(([id, bytes, retransmitted], at) => ({
      at, id, bytes, retransmitted, shown: true, label: id < 0 ? "datagrams" : `stream ${id}`,
    }));
    this.#frames(columns, prefix);
    this.#arrivals();
    this.againFrom = columns.sums(prefix + "again.from");
    this.againTo = columns.values(prefix + "again.to").map((more, at) => more + this.againFrom[at]);
    this.isAgain = new Uint8Array(this.count);
    for (const to of this.againTo) this.isAgain[to] = 1;
    this.#marked();
    this.waits = new Waits(columns, prefix + "waits.", this.streams.length);
    this.one = new Waits(columns, prefix + "one.", this.streams.length);
    /** At the sender: data that waits to be sent, and streams without credit; behind the last stream, the connection. */
    this.queued = new Waits(columns, prefix + "queued.", this.streams.length);
    this.blocked = new Waits(columns, prefix + "blocked.", this.streams.length + 1);
    this.metrics = new Map(facts.metrics.map((name) => {
      const values = columns.sums(`${prefix}metric.${name}.value`);
      return [name, { times: columns.sums(`${prefix}metric.${name}.time`), values, extremes: new Extremes(values) }];
    }));
    this.#totals();
  }

  #after(passed) {
    return passed.map((time, at) => (time === 0 ? NEVER : this.sent[at] + (time > 0 ? time - 1 : time)));
  }

  #frames(columns, prefix) {
    this.frameAt = starts(columns.values(prefix + "streams"));
    this.frameStream = columns.values(prefix + "frame.stream");
    this.frameOffset = columns.values(prefix + "frame.offset");
    const length = columns.values(prefix + "frame.length");
    this.frameLength = length.map((value) => Math.floor(value / 2));
    this.frameFin = Uint8Array.from(length, (value) => value % 2);
    this.framePacket = owners(this.frameAt);
    const expected = new Float64Array(this.streams.length);
    this.frameStream.forEach((stream, at) => {
      this.frameOffset[at] += expected[stream];
      if (this.streams[stream].id >= 0) expected[stream] = this.frameOffset[at] + this.frameLength[at];
    });

    this.ackAt = starts(columns.values(prefix + "acks"));
    this.ackDelay = columns.values(prefix + "frame.delay");
    const counts = columns.values(prefix + "frame.ranges");
    this.rangeAt = starts(counts);
    this.rangeFirst = new Float64Array(this.rangeAt[counts.length]);
    this.rangeLast = new Float64Array(this.rangeAt[counts.length]);
    const largests = columns.values(prefix + "frame.largest");
    const steps = columns.values(prefix + "frame.range");
    let [nextLargest, nextStep, largest] = [0, 0, 0];
    for (let ack = 0; ack < counts.length; ack++) {
      let at = largest;
      for (let range = this.rangeAt[ack]; range < this.rangeAt[ack + 1]; range++) {
        const isFirst = range === this.rangeAt[ack];
        at += isFirst ? largests[nextLargest++] : steps[nextStep++];
        if (isFirst) largest = at;
        this.rangeLast[range] = at;
        at -= steps[nextStep++];
        this.rangeFirst[range] = at;
      }
    }

    this.otherAt = starts(columns.values(prefix + "others"));
    this.otherText = columns.values(prefix + "frame.text");
    this.values = columns.values(prefix + "frame.value");
    const places = this.facts.texts.map((text) => text.split("{}").length - 1);
    this.valueAt = starts(Array.from(this.otherText, (text) => places[text]));
  }

  /** Packets by the time of their arrival, and of each stream the frames that arrived. */
  #arrivals() {
    const order = [];
    for (let packet = 0; packet < this.count; packet++) if (!Number.isNaN(this.received[packet])) order.push(packet);
    order.sort((one, other) => this.received[one] - this.received[other] || one - other);
    this.arrived = Uint32Array.from(order);
    const counts = new Uint32Array(this.streams.length);
    for (const packet of order) {
      for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) counts[this.frameStream[frame]]++;
    }
    this.arrivalAt = starts(counts);
    this.arrivalFrame = new Uint32Array(this.arrivalAt[counts.length]);
    this.arrivalTime = new Float64Array(this.arrivalFrame.length);
    this.arrivalBytes = new Float64Array(this.arrivalFrame.length);
    const next = this.arrivalAt.slice();
    for (const packet of order) {
      for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) {
        const at = next[this.frameStream[frame]]++;
        this.arrivalFrame[at] = frame;
        this.arrivalTime[at] = this.received[packet];
        this.arrivalBytes[at] = this.frameLength[frame];
      }
    }
    this.arrivalTotal = totals(this.arrivalBytes);
  }

  /** What the drawing of many packets would otherwise look up again and again. */
  #marked() {
    this.weight = new Float64Array(this.count);
    /** The place of the stream that has a packet's data alone; -1 if it has none, -2 if there are several. */
    this.only = new Int32Array(this.count);
    const [marked, gone] = [[], []];
    for (let packet = 0; packet < this.count; packet++) {
      this.weight[packet] = this.bytes(packet);
      const [from, to] = [this.frameAt[packet], this.frameAt[packet + 1]];
      this.only[packet] = to === from ? -1 : to === from + 1 ? this.frameStream[from] : -2;
      if (this.isLost(packet) || this.isAgain[packet]) marked.push(packet);
      if (!this.hasArrived(packet)) gone.push(packet);
    }
    /** The packets that were lost or carry bytes again, and those that did not arrive. */
    this.marked = Uint32Array.from(marked);
    this.gone = Uint32Array.from(gone);
    this.weightTotal = totals(this.weight);
    /** Bytes by stream, whose place is one more than it is; 0 is for what belongs to none. */
    this.shares = new Shares(this.count, this.streams.length + 1, (packet, add) => {
      this.parts(packet, (at, bytes) => add(at + 1, bytes));
    });
  }

  /** The parts of a packet: the stream's place, -1 for none, and the bytes, in which its header is divided too. */
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

  #totals() {
    this.lostCount = 0;
    this.maxDelay = 0;
    const delays = [];
    for (let packet = 0; packet < this.count; packet++) {
      if (this.isLost(packet)) this.lostCount++;
      const delay = this.received[packet] - this.sent[packet];
      if (delay > this.maxDelay) this.maxDelay = delay;
      if (packet % 16 === 0 && !Number.isNaN(delay)) delays.push(delay);
    }
    delays.sort((one, other) => one - other);
    this.typicalDelay = delays.length ? delays[delays.length >> 1] : this.duration / 100;
  }

  /** Whether the sender declared a packet lost. */
  isLost(packet) {
    return !Number.isNaN(this.lost[packet]);
  }

  /** Whether a packet arrived, as far as the logs say. */
  hasArrived(packet) {
    return !Number.isNaN(this.received[packet]);
  }

  /** The bytes of a packet, or of its data if the log does not say. */
  bytes(packet) {
    if (this.size[packet] >= 0) return this.size[packet];
    let sum = 0;
    for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) sum += this.frameLength[frame];
    return sum;
  }

  /** The packets that carry bytes of this one again. */
  again(packet) {
    return this.againTo.subarray(lowerBound(this.againFrom, packet), upperBound(this.againFrom, packet));
  }

  /** The packets whose bytes this one carries again. */
  before(packet) {
    const found = [];
    for (let at = this.againTo.indexOf(packet); at >= 0; at = this.againTo.indexOf(packet, at + 1)) found.push(this.againFrom[at]);
    return found;
  }

  /** Whether a packet has a frame of a stream, or of datagrams, for which this holds. */
  hasFrame(packet, test) {
    for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) if (test(frame)) return true;
    return false;
  }

  /** Whether a packet has more than acknowledgements, so that the receiver must acknowledge it. */
  isElicited(packet) {
    return this.frameAt[packet + 1] > this.frameAt[packet] || this.otherAt[packet + 1] > this.otherAt[packet];
  }

  /** Whether anything is known of what waits at the sender. */
  get hasSending() {
    return this.queued.count + this.blocked.count > 0;
  }

  /** Whether a packet carries bytes of a stream. */
  carries(packet, stream) {
    for (let frame = this.frameAt[packet]; frame < this.frameAt[packet + 1]; frame++) if (this.frameStream[frame] === stream) return true;
    return false;
  }

  /** The packets of a stream before and after a time, -1 where there is none within `most` packets. */
  around(stream, time, most = 20000) {
    const from = upperBound(this.sent, time);
    let [before, after] = [from - 1, from];
    while (before >= Math.max(0, from - most) && !this.carries(before, stream)) before--;
    while (after < Math.min(this.count, from + most) && !this.carries(after, stream)) after++;
    return [before >= Math.max(0, from - most) ? before : -1, after < Math.min(this.count, from + most) ? after : -1];
  }

  /** The last value of a gauge at a time; undefined before the first. */
  gauge(name, time) {
    const series = this.metrics.get(name);
    return series && series.values[upperBound(series.times, time) - 1];
  }
}

/** Spans of waiting, for each stream in the order of time. */
class Waits {
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
    for (const name of ["start", "end", "missing", "filled", "offset", "held"]) this[name] = new Float64Array(this.count);
    const next = this.at.slice();
    this.total = 0;
    for (let from = 0; from < this.count; from++) {
      const to = next[stream[from]]++;
      this.stream[to] = stream[from];
      this.start[to] = all.start[from];
      this.end[to] = all.start[from] + all.length[from];
      for (const name of ["missing", "filled", "offset", "held"]) this[name][to] = all[name][from];
      this.total += all.length[from];
    }
    /** All spans by their starts. */
    this.order = Uint32Array.from(this.start.keys()).sort((one, other) => this.start[one] - this.start[other] || one - other);
  }

  /** The span of a stream at a time; -1 if it does not wait. `slack` widens the spans. */
  find(stream, time, slack = 0) {
    const to = this.at[stream + 1];
    const at = lowerBound(this.end, time - slack, this.at[stream], to);
    return at < to && this.start[at] <= time + slack ? at : -1;
  }
}

/** Where each part begins, from the numbers of their elements; one more for the end. */
function starts(counts) {
  const out = new Uint32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at++) out[at + 1] = out[at] + counts[at];
  return out;
}

/** The part that each element belongs to. */
function owners(at) {
  const out = new Uint32Array(at[at.length - 1]);
  for (let part = 0; part + 1 < at.length; part++) out.fill(part, at[part], at[part + 1]);
  return out;
}
