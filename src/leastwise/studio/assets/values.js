// A question about named values: groups side by side. Values are dragged, or selected and moved by buttons and keys.
import { useState } from "preact/hooks";
import { html, percent } from "./html.js";
import { edit } from "./state.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Card} Card */

const SHOWN = 24, MOST_GROUPS = 48;

/** @param {{question: Question, card: Card, actions: (bucket: number) => any}} props */
export function Groups({ question, card, actions }) {
  const [chosen, setChosen] = useState(/** @type {number[]} */ ([]));
  const [over, setOver] = useState(/** @type {number | null} */ (null));
  const [wide, setWide] = useState(/** @type {number[]} */ ([]));
  const [drawn, setDrawn] = useState(MOST_GROUPS);
  const values = question.values ?? [], assignment = card.assignment ?? [];
  const most = Math.max(...question.shares.map((each) => sum(each)), 1e-9);
  const members = card.buckets.map(() => /** @type {number[]} */ ([]));
  values.forEach((_, piece) => members[assignment[piece]]?.push(piece));

  /** @param {number[]} pieces @param {number | null} to */
  function move(pieces, to) {
    setChosen([]);
    const where = to == null ? "a group of their own" : `“${card.buckets[to].name || card.buckets[to].label}”`;
    void edit({ kind: "move", attribute: question.name, pieces, to }, `${question.name}: ${pieces.map((each) => values[each]).join(", ")} moved to ${where}`);
  }
  /** @param {number} piece */
  function toggle(piece) {
    setChosen(chosen.includes(piece) ? chosen.filter((each) => each !== piece) : [...chosen, piece]);
  }
  /** @param {KeyboardEvent} event @param {number} piece @param {number} bucket */
  function pressed(event, piece, bucket) {
    const pieces = chosen.includes(piece) ? chosen : [piece];
    if (event.key === "ArrowRight" && bucket + 1 < card.buckets.length) move(pieces, bucket + 1);
    else if (event.key === "ArrowLeft" && bucket > 0) move(pieces, bucket - 1);
    else if (event.key.toLowerCase() === "n") move(pieces, null);
    else return;
    event.preventDefault();
  }
  /** @param {DragEvent} event @param {number | null} to */
  function dropped(event, to) {
    event.preventDefault();
    setOver(null);
    const piece = Number(event.dataTransfer?.getData("text/plain"));
    const pieces = chosen.includes(piece) ? chosen : [piece];
    if (Number.isInteger(piece) && (to == null || assignment[piece] !== to)) move(pieces, to);
  }

  const toolbar = chosen.length > 0 && html`<div class="toolbar" role="toolbar" aria-label="Move what is selected">
    <span>${chosen.length} selected</span>
    <button class="small" onClick=${() => move(chosen, null)}>Group these</button>
    <label>Move to <select onChange=${(/** @type {any} */ event) => event.target.value !== "" && move(chosen, Number(event.target.value))}>
      <option value="">…</option>${card.buckets.map((each, i) => html`<option key=${i} value=${i}>${each.name || each.label}</option>`)}</select></label>
    <button class="small plain" onClick=${() => setChosen([])}>Clear</button></div>`;

  return html`<div class="values">${toolbar}<div class="groups">${card.buckets.slice(0, drawn).map((bucket, b) => html`
    <div key=${bucket.label} class=${`group ${bucket.locked ? "locked" : ""} ${over === b ? "over" : ""}`} data-bucket=${b}
      onDragOver=${(/** @type {DragEvent} */ event) => { event.preventDefault(); setOver(b); }} onDragLeave=${() => setOver(null)} onDrop=${(/** @type {DragEvent} */ event) => dropped(event, b)}>
      ${b > 0 && html`<${Merge} question=${question} card=${card} second=${b} />`}<header><span class="label" title=${bucket.label}>${bucket.name || (members[b].length > 3 && !question.levels ? `${members[b].length} values` : bucket.label)}</span><span class="share">${bucket.few ? "few" : percent(bucket.share, bucket.share < 0.01 ? 1 : 0)}</span></header>${actions(b)}
      <ul>${members[b].slice(0, wide.includes(b) ? 400 : SHOWN).map((piece) => html`<li key=${piece}><button class="value" draggable="true" aria-pressed=${chosen.includes(piece)}
        title="Click to select, drag to another group; arrows move it, N gives it a group of its own"
        onClick=${() => toggle(piece)} onKeyDown=${(/** @type {KeyboardEvent} */ event) => pressed(event, piece, b)}
        onDragStart=${(/** @type {DragEvent} */ event) => event.dataTransfer?.setData("text/plain", String(piece))}>
        <span class="text">${values[piece]}</span><svg class="mini" aria-hidden="true"><rect width=${`${(100 * sum(question.shares[piece])) / most}%`} height="4" rx="2" /></svg></button></li>`)}
      ${members[b].length > SHOWN && !wide.includes(b) && html`<li><button class="small plain" onClick=${() => setWide([...wide, b])}>and ${members[b].length - SHOWN} more</button></li>`}
      </ul></div>`)}
  </div>${card.buckets.length > drawn && html`<button class="small plain" onClick=${() => setDrawn(8 * drawn)}>and ${card.buckets.length - drawn} more groups</button>`}<div class="group new" onDragOver=${(/** @type {DragEvent} */ event) => event.preventDefault()} onDrop=${(/** @type {DragEvent} */ event) => dropped(event, null)} aria-hidden="true">drop here for a new group</div></div>`;
}

/** The sign between two buckets that makes them one. @param {{question: Question, card: Card, second: number}} props */
export function Merge({ question, card, second }) {
  const [first, last] = [card.buckets[second - 1], card.buckets[second]];
  return html`<button class="merge" title="Merge these two" aria-label=${`Merge ${first.label} and ${last.label}`}
    onClick=${() => edit({ kind: "merge", attribute: question.name, first: second - 1, second }, `${question.name}: merged`)}>
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2.5 4.5 L6 8 L2.5 11.5 M13.5 4.5 L10 8 L13.5 11.5" /></svg></button>`;
}

/** The values of a question that is not asked, or asked in full, as one list. @param {{question: Question, off: boolean}} props */
export function PlainValues({ question, off }) {
  const values = question.values ?? [];
  const order = values.map((_, i) => i).sort((a, b) => sum(question.shares[b]) - sum(question.shares[a])).slice(0, 12);
  const most = Math.max(...question.shares.map(sum), 1e-9);
  return html`<ul class=${`spread-list ${off ? "off" : ""}`}>${order.map((i) => html`<li key=${i}><span class="text">${values[i]}</span>
    <svg class="mini" aria-hidden="true"><rect width=${`${(100 * sum(question.shares[i])) / most}%`} height="6" rx="3" /></svg></li>`)}
    ${values.length > 12 && html`<li class="more">and ${values.length - 12} more values</li>`}</ul>`;
}

/** @param {number[]} shares */
function sum(shares) {
  return shares.reduce((a, b) => a + b, 0);
}
