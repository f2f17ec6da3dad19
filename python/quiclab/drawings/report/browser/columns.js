// The columns of a sweep's runs: short names, values in words, order.

import { decimalsOf, tick, written } from "./numbers.js";

/** @import { ColumnFacts, SweepFacts, Value } from "./facts.js" */

/** A column, with its name as short as it can be told from others, the decimals of its numbers, and whether the table has it.
 *  @typedef {ColumnFacts & { short: string, decimals: number, isShown: boolean, words: string[] }} Column */

/** Columns with what the page needs of them.
 *  @param {ColumnFacts[]} columns @returns {Column[]} */
export function readColumns(columns) {
  const ends = new Map();
  for (const { name } of columns) {
    for (const end of endsOf(name)) ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  return columns.map((column) => {
    let greatest = 0;
    if (column.kind === "number") for (const value of column.values) greatest = Math.max(greatest, Math.abs(value ?? 0));
    const short = endsOf(column.name).find((end) => ends.get(end) === 1) ?? column.name;
    return { ...column, short, words: column.words ?? [], decimals: column.whole ? 0 : decimalsOf(greatest), isShown: column.shown };
  });
}

/** The ends of a name, the shortest first.
 *  @param {string} name */
function endsOf(name) {
  const parts = name.split(".");
  return parts.map((_, at) => parts.slice(parts.length - 1 - at).join("."));
}

/** Finds a column by its name, or by the end of it where only one ends so; throws an `Error` where several do.
 *  @param {SweepFacts["same"]} same columns with one value in all runs: pairs of name and value
 *  @param {Column[]} columns */
export function finder(columns, same) {
  const count = columns[0]?.values.length ?? 0;
  const others = same.map(([name, value]) => constant(name, value, count));
  return (/** @type {string} */ text) => {
    const wanted = text.toLowerCase();
    const all = [...columns, ...others];
    const found = [
      all.filter((column) => column.name.toLowerCase() === wanted),
      // As the heads of the table have it.
      columns.filter((column) => column.short.toLowerCase() === wanted),
      all.filter((column) => column.name.toLowerCase().endsWith(`.${wanted}`)),
    ].find((some) => some.length);
    if (found && found.length > 1) throw new Error(`${text} may be ${found.map((column) => column.name).slice(0, 3).join(", ")}`);
    return found?.[0];
  };
}

/** A column with one value.
 *  @param {string} name @param {Value} value @param {number} count @returns {Column} */
function constant(name, value, count) {
  const kind = typeof value === "boolean" ? "flag" : typeof value === "number" ? "number" : "text";
  const isText = kind === "text" && value !== null;
  const number = isText ? 0 : value === null ? null : Number(value);
  const decimals = decimalsOf(Math.abs(number ?? 0));
  const words = isText ? [String(value)] : [];
  return { name, short: endsOf(name)[0], kind, words, decimals, shown: false, isShown: false, varied: false, values: new Array(count).fill(number) };
}

/** The value of a row in words.
 *  @param {Column} column @param {number} row */
export function valueText(column, row) {
  const value = column.values[row];
  if (value === null) return "-";
  if (column.kind === "text") return column.words[value];
  if (column.kind === "flag") return value ? "yes" : "no";
  // What was varied stands as it was chosen.
  return column.varied || column.name === "run" ? tick(value) : written(value, column.decimals);
}

/** Compares rows by a column: what has no value comes last, whichever way.
 *  @param {Column} column @param {boolean} isDown */
export function order(column, isDown) {
  /** @param {string} one @param {string} other */
  const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
  return (/** @type {number} */ one, /** @type {number} */ other) => {
    const [a, b] = [column.values[one], column.values[other]];
    if (a === null || b === null) return Number(a === null) - Number(b === null) || one - other;
    const sign = column.kind === "text" ? compare(column.words[a], column.words[b]) : a - b;
    return (isDown ? -sign : sign) || one - other;
  };
}
