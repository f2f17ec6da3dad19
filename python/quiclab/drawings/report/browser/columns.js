// The columns of a sweep's runs: short names, values in words, order.

import { decimalsOf, tick, written } from "./numbers.js";

/** Columns with what the page needs of them. */
export function readColumns(columns) {
  const ends = new Map();
  for (const { name } of columns) {
    for (const end of endsOf(name)) ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  return columns.map((column) => {
    let greatest = 0;
    if (column.kind === "number") for (const value of column.values) greatest = Math.max(greatest, Math.abs(value ?? 0));
    const short = endsOf(column.name).find((end) => ends.get(end) === 1) ?? column.name;
    return { ...column, short, decimals: column.whole ? 0 : decimalsOf(greatest), isShown: column.shown };
  });
}

/** The ends of a name, the shortest first. */
function endsOf(name) {
  const parts = name.split(".");
  return parts.map((_, at) => parts.slice(parts.length - 1 - at).join("."));
}

/** Finds a column by its name, or by the end of it where only one ends so; throws an `Error` where several do.
 *  @param same columns with one value in all runs: pairs of name and value */
export function finder(columns, same) {
  const count = columns[0]?.values.length ?? 0;
  const others = same.map(([name]) => ({ name, short: endsOf(name)[0] }));
  return (text) => {
    const wanted = text.toLowerCase();
    const all = [...columns, ...others];
    const found = [
      all.filter((column) => column.name.toLowerCase() === wanted),
      // As the heads of the table have it.
      columns.filter((column) => column.short.toLowerCase() === wanted),
      all.filter((column) => column.name.toLowerCase().endsWith(`.${wanted}`)),
    ].find((some) => some.length);
    if (found?.length > 1) throw new Error(`${text} may be ${found.map((column) => column.name).slice(0, 3).join(", ")}`);
    const column = found?.[0];
    return column && !column.values ? constant(column, same.find(([name]) => name === column.name)[1], count) : column;
  };
}

/** A column with one value. */
function constant(column, value, count) {
  const kind = typeof value === "boolean" ? "flag" : typeof value === "number" ? "number" : "text";
  const isText = kind === "text" && value !== null;
  return { ...column, kind, words: isText ? [value] : [], values: new Array(count).fill(isText ? 0 : value === null ? null : Number(value)) };
}

/** The value of a row in words. */
export function valueText(column, row) {
  const value = column.values[row];
  if (value === null) return "-";
  if (column.kind === "text") return column.words[value];
  if (column.kind === "flag") return value ? "yes" : "no";
  // What was varied stands as it was chosen.
  return column.varied || column.name === "run" ? tick(value) : written(value, column.decimals);
}

/** Compares rows by a column: what has no value comes last, whichever way. */
export function order(column, isDown) {
  const value = column.kind === "text" ? (row) => column.words[column.values[row]] : (row) => column.values[row];
  return (one, other) => {
    const [a, b] = [column.values[one], column.values[other]];
    if (a === null || b === null) return (a === null) - (b === null) || one - other;
    const [first, second] = [value(one), value(other)];
    const sign = first < second ? -1 : first > second ? 1 : 0;
    return (isDown ? -sign : sign) || one - other;
  };
}
