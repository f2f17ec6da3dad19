// The bottleneck of a connection: its capacity, what it delivered, its queue, and when it carried nothing.

import { Extremes } from "./pyramid.js";
import { lowerBound, upperBound } from "./search.js";

/** @import { Series } from "./model.js" */
/** @import { Columns } from "./columns.js" */
/** @import { BottleneckFacts } from "./facts.js" */

/** Its series as gauges, under the names `capacity`, `delivered`, `packets` and `bytes`; times are those of the run. */
export class Bottleneck {
  /** @param {Columns} columns @param {string} name @param {BottleneckFacts} facts */
  constructor(columns, name, facts) {
    this.name = name;
    this.facts = { hasSender: true };
    this.outages = facts.outages;
    this.clock = 0;
    /** @type {Map<string, Series>} */
    this.metrics = new Map();
    for (const part of /** @type {const} */ (["rate", "queue"])) {
      if (!facts[part].length) continue;
      const times = columns.sums(`${facts.prefix}${part}.time`);
      for (const key of facts[part].filter((each) => each !== "time")) {
        const values = columns.sums(`${facts.prefix}${part}.${key}`);
        this.metrics.set(key, { times, values, extremes: new Extremes(values) });
      }
    }
    const { times } = this.#series("delivered");
    const last = times.length - 1;
    /** The end of the last bin. */
    this.duration = times[last] + (last > 0 ? times[last] - times[last - 1] : 0);
  }

  /** @param {string} name */
  #series(name) {
    const series = this.metrics.get(name);
    if (!series) throw new Error(`the bottleneck ${this.name} has no series ${name}`);
    return series;
  }

  /** The last value of a series at a time; undefined before the first.
   *  @param {string} name @param {number} time */
  gauge(name, time) {
    const series = this.metrics.get(name);
    return series?.values[upperBound(series.times, time) - 1];
  }

  /** The outages that overlap a time.
   *  @param {number} start @param {number} end */
  outagesWithin(start, end) {
    return this.outages.filter(([from, to]) => from < end && to > start);
  }

  /** Least and greatest value of a series in a time, with the value that it begins with.
   *  @param {string} name @param {number} start @param {number} end */
  between(name, start, end) {
    const { times, extremes } = this.#series(name);
    const from = Math.max(0, upperBound(times, start) - 1);
    return extremes.of(from, Math.max(from + 1, lowerBound(times, end))).slice(0, 2);
  }
}
