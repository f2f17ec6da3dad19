// Numbers, times, packets and waits in words.

/** An integer with separated thousands. */
export function integer(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** Nanoseconds as milliseconds, exact, without the zeros behind. */
export function milliseconds(time) {
  const text = (time / 1e6).toFixed(6).replace(/\.?0+$/, "");
  const [whole, part] = text.split(".");
  return integer(Number(whole)) + (part ? `.${part}` : "");
}

/** A duration in nanoseconds with three digits and its unit. */
export function duration(time) {
  for (const [unit, factor] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]]) {
    if (Math.abs(time) >= factor) return `${(time / factor).toPrecision(3).replace(/e.*/, "")} ${unit}`;
  }
  return `${Math.round(time)} ns`;
}

/** Bytes with three digits and a decimal unit. */
export function size(bytes) {
  for (const [unit, factor] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (bytes >= factor) {
      const value = bytes / factor;
      return `${value >= 100 ? Math.round(value) : value.toPrecision(3).replace(/\.?0+$/, "")} ${unit}`;
    }
  }
  return `${Math.round(bytes)} B`;
}

/** What became of a packet. */
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

/** The frames of a packet, a text for each. */
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

/** What a wait was for: the packet, its fate, and with which one the wait ended. */
export function cause(direction, waits, at) {
  const [missing, filled] = [waits.missing[at], waits.filled[at]];
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
  if (failed.length) text += `, sent again as ${failed.map(name).join(", ")} (lost too)`;
  if (!direction.isAgain[filled]) return `${text}, ended by packet ${name(filled)}`;
  return `${text}, ${failed.length ? "then" : "sent again"} as ${name(filled)}`;
}
