// Binary search in sorted columns.

/** The first place from `from` on whose value is at least `value`.
 *  @param {ArrayLike<number>} column @param {number} value @param {number} [from] @param {number} [to] */
export function lowerBound(column, value, from = 0, to = column.length) {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first place from `from` on whose value is greater than `value`.
 *  @param {ArrayLike<number>} column @param {number} value @param {number} [from] @param {number} [to] */
export function upperBound(column, value, from = 0, to = column.length) {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The place whose value is nearest to `value`; -1 if there is none.
 *  @param {ArrayLike<number>} column @param {number} value @param {number} [from] @param {number} [to] */
export function nearest(column, value, from = 0, to = column.length) {
  if (from >= to) return -1;
  const at = lowerBound(column, value, from, to);
  if (at === from) return at;
  if (at === to) return at - 1;
  return value - column[at - 1] <= column[at] - value ? at - 1 : at;
}
