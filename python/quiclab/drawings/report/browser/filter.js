// The filter of runs: `goodput_mbps > 5 and (ack_ratio = 2 or not completed)` as a function of a row.

/** @import { Column } from "./columns.js" */

const TOKEN = /\s*(?:(>=|<=|!=|==|=|<|>|~|\(|\))|"([^"]*)"|`([^`]*)`|([^\s<>=!~()"`]+))/y;

/** What yes and no may be written as.
 *  @type {Record<string, number>} */
const FLAGS = { yes: 1, true: 1, 1: 1, no: 0, false: 0, 0: 0 };

/** Whether a row is shown.
 *  @typedef {(row: number) => boolean} Filter */

/** @typedef {{ kind: "sign" | "text" | "name" | "word", text: string }} Token */

/** Makes a filter. Throws an `Error` with one sentence if the text is none.
 *  @param {(name: string) => Column | undefined} find returns a column by its name or the end of it; undefined if there is none
 *  @returns {Filter}
 *  @param {string} text */
export function makeFilter(text, find) {
  const tokens = split(text);
  if (!tokens.length) return () => true;
  let at = 0;
  const word = () => (tokens[at]?.kind === "word" ? tokens[at].text.toLowerCase() : undefined);
  const sign = () => (tokens[at]?.kind === "sign" ? tokens[at].text : undefined);

  /** @returns {Filter} */
  const either = () => {
    let left = both();
    while (word() === "or") {
      at++;
      const [one, other] = [left, both()];
      left = (row) => one(row) || other(row);
    }
    return left;
  };
  /** @returns {Filter} */
  const both = () => {
    let left = single();
    while (word() === "and") {
      at++;
      const [one, other] = [left, single()];
      left = (row) => one(row) && other(row);
    }
    return left;
  };
  /** @returns {Filter} */
  const single = () => {
    if (word() === "not") {
      at++;
      const inner = single();
      return (row) => !inner(row);
    }
    if (sign() === "(") {
      at++;
      const inner = either();
      if (sign() !== ")") throw new Error("a ) is missing");
      at++;
      return inner;
    }
    return comparison();
  };
  /** @returns {Filter} */
  const comparison = () => {
    const name = tokens[at++];
    if (!name || name.kind === "sign" || name.kind === "text") throw new Error(`expected the name of a column${name ? ` instead of ${name.text}` : ""}`);
    const column = find(name.text);
    if (!column) throw new Error(`no column ${name.text}`);
    const operator = sign();
    if (operator === undefined || operator === "(" || operator === ")") return (row) => holds(column, row);
    at++;
    const value = tokens[at++];
    if (!value || value.kind === "sign") throw new Error(`expected a value after ${name.text} ${operator}`);
    return compare(column, operator, value.text);
  };

  const filter = either();
  if (at < tokens.length) throw new Error(`expected and, or, or the end instead of ${tokens[at].text}`);
  return filter;
}

/** @param {string} text */
function split(text) {
  /** @type {Token[]} */
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const from = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (!found) {
      if (!text.slice(from).trim()) break;
      throw new Error(`cannot read ${text.slice(from).trim()}`);
    }
    const [, sign, quoted, named, word] = found;
    if (sign) tokens.push({ kind: "sign", text: sign });
    else if (quoted !== undefined) tokens.push({ kind: "text", text: quoted });
    else tokens.push(named === undefined ? { kind: "word", text: word } : { kind: "name", text: named });
  }
  return tokens;
}

/** Without a comparison: whether there is a value, of yes and no whether it is yes.
 *  @param {Column} column @param {number} row */
function holds(column, row) {
  const value = column.values[row];
  return column.kind === "flag" ? value === 1 : value !== null;
}

/** A value compared with that of a row.
 *  @param {Column} column @param {string} operator @param {string} text @returns {Filter} */
function compare(column, operator, text) {
  const sign = operator === "==" ? "=" : operator;
  if (column.kind === "text" || sign === "~") {
    const wanted = text.toLowerCase();
    /** @type {Record<string, (value: string) => boolean>} */
    const tests = {
      "=": (value) => value === wanted,
      "!=": (value) => value !== wanted,
      "~": (value) => value.includes(wanted),
      "<": (value) => value < wanted,
      ">": (value) => value > wanted,
      "<=": (value) => value <= wanted,
      ">=": (value) => value >= wanted,
    };
    const test = tests[sign];
    return (row) => {
      const value = column.values[row];
      return value !== null && test(String(column.kind === "text" ? column.words[value] : value).toLowerCase());
    };
  }
  const number = column.kind === "flag" ? FLAGS[text.toLowerCase()] : Number(text);
  if (number === undefined || Number.isNaN(number)) throw new Error(`${column.short}: expected ${column.kind === "flag" ? "yes or no" : "a number"} instead of ${text}`);
  /** @type {Record<string, (value: number) => boolean>} */
  const tests = {
    "=": (value) => value === number,
    "!=": (value) => value !== number,
    "<": (value) => value < number,
    ">": (value) => value > number,
    "<=": (value) => value <= number,
    ">=": (value) => value >= number,
  };
  const test = tests[sign];
  return (row) => {
    const value = column.values[row];
    return value !== null && test(value);
  };
}
