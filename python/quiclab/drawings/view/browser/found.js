// What a search has found, in all tracks together in the order of time.

import { lowerBound, upperBound } from "./search.js";

/** @import { Track } from "./track.js" */

/** @typedef {{ track: Track, packet: number }} FoundPacket
 *  @typedef {FoundPacket | { time: number }} Position */

/** Found packets. A place among them is a track and a packet; of equal times the first track's comes first. */
export class Found {
  /** @param {[Track, Uint32Array][]} parts of each track: itself, and the places of its packets in order */
  constructor(parts) {
    this.parts = parts;
    this.count = parts.reduce((sum, [, packets]) => sum + packets.length, 0);
  }

  /** The one after a place, or with -1 before it; behind the last comes the first.
   *  @param {Position} from @param {number} by */
  step(from, by) {
    const steps = this.parts.map(([track, packets], at) => {
      const before = this.#before(from, at);
      const isHere = "track" in from && from.track === track && packets[before] === from.packet;
      return { track, packet: packets[by > 0 ? before + (isHere ? 1 : 0) : before - 1] };
    });
    const ends = this.parts.map(([track, packets]) => ({ track, packet: packets.at(by > 0 ? 0 : -1) }));
    return nearestOf(steps, by) ?? nearestOf(ends, by);
  }

  /** The number of a place among all, from 1 on.
   *  @param {Position} place */
  rank(place) {
    return this.parts.reduce((sum, _, at) => sum + this.#before(place, at), 1);
  }

  /** How many of one track's are before a place, which may be a time alone.
   *  @param {Position} place @param {number} at */
  #before(place, at) {
    const [own, packets] = this.parts[at];
    if (!("track" in place)) return lowerBound(packets, lowerBound(own.direction.sent, place.time - own.offset));
    if (own === place.track) return lowerBound(packets, place.packet);
    const isFirst = at < this.parts.findIndex(([each]) => each === place.track);
    return lowerBound(packets, (isFirst ? upperBound : lowerBound)(own.direction.sent, timeOf(place) - own.offset));
  }
}

/** When a packet was sent, on the axis of the figure.
 *  @param {FoundPacket} place */
function timeOf({ track, packet }) {
  return track.direction.sent[packet] + track.offset;
}

/** The first in time, or with -1 the last, of those that there are.
 *  @param {{ track: Track, packet: number | undefined }[]} places @param {number} by */
function nearestOf(places, by) {
  /** @type {FoundPacket | undefined} */
  let best;
  for (const { track, packet } of places) {
    if (packet === undefined) continue;
    const place = { track, packet };
    if (!best || (by > 0 ? timeOf(place) < timeOf(best) : timeOf(place) >= timeOf(best))) best = place;
  }
  return best;
}
