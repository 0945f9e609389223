// The one way to write markup here: htm bound to Preact.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);

/**
 * A number as people read it: 13.5 %.
 * @param {number | null | undefined} share
 * @param {number} [digits]
 */
export function percent(share, digits = 1) {
  return share == null ? "–" : `${(100 * share).toFixed(digits)} %`;
}

/**
 * A difference in points, with its sign.
 * @param {number} share
 * @param {number} [digits]
 */
export function points(share, digits = 1) {
  const rounded = (100 * share).toFixed(digits);
  const zero = Number(rounded) === 0;
  return zero ? `±${Math.abs(Number(rounded)).toFixed(digits)}` : share > 0 ? `+${rounded}` : `−${rounded.slice(1)}`;
}

/** @param {number} count */
export function whole(count) {
  return count.toLocaleString("en");
}

/**
 * So many things: 1 answer, 1,200 answers.
 * @param {number} count
 * @param {string} what
 */
export function counted(count, what) {
  return `${whole(count)} ${what}${count === 1 ? "" : "s"}`;
}

/**
 * The lower and upper end within which a value stays.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function between(value, low, high) {
  return Math.max(low, Math.min(high, value));
}
