// Sums and extremes of blocks of a column, so that a pixel that stands for many values looks at few of them.

/** Takes a group and a share of it.
 *  @typedef {(group: number, share: number) => void} Add */

/** Calls back with group and share for each part of a value.
 *  @typedef {(value: number, add: Add) => void} Each */

/** How many values, or blocks of the level below, are in a block. */
const BLOCK = 16;

/** The end of the run from `from` on whose times are in the same pixel; it is looked for in growing steps.
 *  @param {Float64Array} times @param {number} from @param {number} last @param {number} start @param {number} factor */
export function pixelEnd(times, from, last, start, factor) {
  const pixel = Math.floor((times[from] - start) * factor);
  /** @param {number} at */
  const isInside = (at) => Math.floor((times[at] - start) * factor) === pixel;
  let step = 1;
  let low = from + 1;
  while (low < last && isInside(low)) {
    const next = low + step;
    if (next >= last || !isInside(next)) {
      // The end is behind `low` and not behind `next`.
      let high = Math.min(next, last);
      low++;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (isInside(middle)) low = middle + 1;
        else high = middle;
      }
      return low;
    }
    low = next;
    step *= 2;
  }
  return low;
}

/** The sums of a column up to each of its places.
 *  @param {Float64Array} values */
export function totals(values) {
  const out = new Float64Array(values.length + 1);
  for (let at = 0; at < values.length; at++) out[at + 1] = out[at] + values[at];
  return out;
}

/** The least and the greatest of any part of a column. */
export class Extremes {
  /** @param {Float64Array} values */
  constructor(values) {
    this.levels = [{ least: values, most: values }];
    for (let below = this.levels[0]; below.least.length > BLOCK;) {
      const count = Math.ceil(below.least.length / BLOCK);
      const [least, most] = [new Float64Array(count).fill(Infinity), new Float64Array(count).fill(-Infinity)];
      for (let at = 0; at < below.least.length; at++) {
        const block = Math.floor(at / BLOCK);
        if (below.least[at] < least[block]) least[block] = below.least[at];
        if (below.most[at] > most[block]) most[block] = below.most[at];
      }
      below = { least, most };
      this.levels.push(below);
    }
  }

  /** Least, greatest, and how many values were looked at.
   *  @param {number} from @param {number} to */
  of(from, to) {
    let [least, most, visited] = [Infinity, -Infinity, 0];
    pieces(from, to, this.levels.length, (level, at) => {
      const { least: low, most: high } = this.levels[level];
      if (low[at] < least) least = low[at];
      if (high[at] > most) most = high[at];
      visited++;
    });
    return [least, most, visited];
  }
}

/** The sums of any part of a column by group, where each value belongs to one or several groups. */
export class Shares {
  /** @param {number} count of the values @param {number} groups how many there are @param {Each} each */
  constructor(count, groups, each) {
    /** @type {{ at: Uint32Array, group: Uint32Array, share: Float64Array }[]} */
    this.levels = [];
    const sums = new Float64Array(groups);
    const isSeen = new Uint8Array(groups);
    /** @type {{ count: number, each: Each }} */
    let below = { count, each };
    while (below.count > BLOCK) {
      const blocks = Math.ceil(below.count / BLOCK);
      const at = new Uint32Array(blocks + 1);
      /** @type {number[]} */
      const group = [];
      /** @type {number[]} */
      const share = [];
      for (let block = 0; block < blocks; block++) {
        /** @type {number[]} */
        const seen = [];
        /** @type {Add} */
        const add = (place, value) => {
          if (!isSeen[place]) seen.push(place);
          isSeen[place] = 1;
          sums[place] += value;
        };
        for (let part = block * BLOCK; part < Math.min((block + 1) * BLOCK, below.count); part++) below.each(part, add);
        for (const place of seen) {
          group.push(place);
          share.push(sums[place]);
          sums[place] = isSeen[place] = 0;
        }
        at[block + 1] = group.length;
      }
      const level = { at, group: Uint32Array.from(group), share: Float64Array.from(share) };
      this.levels.push(level);
      below = {
        count: blocks,
        each: (part, add) => {
          for (let entry = level.at[part]; entry < level.at[part + 1]; entry++) add(level.group[entry], level.share[entry]);
        },
      };
    }
    this.each = each;
  }

  /** Calls back with group and share for the values from..to, each group once or more often; returns how many were looked at.
   *  @param {number} from @param {number} to @param {Add} add */
  of(from, to, add) {
    let visited = 0;
    pieces(from, to, this.levels.length + 1, (level, at) => {
      if (level === 0) {
        visited++;
        this.each(at, add);
        return;
      }
      const { at: starts, group, share } = this.levels[level - 1];
      visited += starts[at + 1] - starts[at];
      for (let entry = starts[at]; entry < starts[at + 1]; entry++) add(group[entry], share[entry]);
    });
    return visited;
  }
}

/** The whole blocks, the largest there are, and the single values that from..to consists of, in order.
 *  @param {number} from @param {number} to @param {number} levels @param {(level: number, at: number) => void} visit */
function pieces(from, to, levels, visit) {
  let at = from;
  while (at < to) {
    let [level, size] = [0, 1];
    while (level + 1 < levels && at % (size * BLOCK) === 0 && at + size * BLOCK <= to) {
      level++;
      size *= BLOCK;
    }
    visit(level, at / size);
    at += size;
  }
}
