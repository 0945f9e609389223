// The shelf: drafts with names and comments; two or three side by side.
import { useEffect, useState } from "preact/hooks";
import { counted, html, percent, whole } from "./html.js";
import { ask, commit, now, room } from "./state.js";
import { Writing } from "./writing.js";

export function Shelf() {
  const state = now.value;
  const [name, setName] = useState("");
  const [comment, setComment] = useState("");
  const [ids, setIds] = useState(/** @type {number[]} */ ([0]));
  if (!state) return null;
  const toggle = (/** @type {number} */ id) => setIds(ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id].slice(-3));
  async function keep() {
    if (await commit({ do: "keep", name, comment }, "Kept on the shelf.")) { setName(""); setComment(""); }
  }
  return html`<div class="shelf"><section class="panel" aria-label="Keep this draft"><h2>The shelf</h2>
      <p class="lead">Keep a draft before you try another. Choose two or three to see them side by side.</p>
      <form class="keep" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); void keep(); }}><label>Name <input value=${name} placeholder=${`Draft ${state.shelf.length + 1}`} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
        <label class="grow">Comment <input value=${comment} placeholder="What is it for?" onInput=${(/** @type {any} */ event) => setComment(event.target.value)} /></label><button class="primary">Keep this draft</button></form>
      <ul class="kept"><li class=${ids.includes(0) ? "on" : ""}><label><input type="checkbox" checked=${ids.includes(0)} onChange=${() => toggle(0)} /> <b>The draft now</b></label><${Line} figures=${state.figures} /></li>
        ${state.shelf.map((each) => html`<li key=${each.id} class=${ids.includes(each.id) ? "on" : ""}><label><input type="checkbox" checked=${ids.includes(each.id)} onChange=${() => toggle(each.id)} /> <b>${each.name}</b></label><${Line} figures=${each.figures} />
          <${Writing} class="comment" aria-label=${`Comment to ${each.name}`} value=${each.comment} placeholder="comment" write=${(/** @type {string} */ text) => commit({ do: "describe", id: each.id, comment: text }, "The comment is kept.")} />
          <span class="buttons"><button class="small" onClick=${() => commit({ do: "take", id: each.id }, `${each.name} is the draft now.`)}>Take it</button><button class="small plain" aria-label=${`Take ${each.name} off the shelf`} onClick=${() => commit({ do: "discard", id: each.id }, "Taken away.")}>Remove</button></span></li>`)}</ul></section>
    <${Comparison} ids=${ids} version=${state.version} /></div>`;
}

/** @param {{figures: import("./types.js").Figures}} props */
function Line({ figures }) {
  return html`<span class="line">model ${percent(figures.model.error)} · attacker ${percent(figures.mean.error)} · ${counted(figures.answers, "answer")} · ${whole(figures.alone)} alone</span>`;
}

/** @param {{ids: number[], version: number}} props */
function Comparison({ ids, version }) {
  const [found, setFound] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    let late = false;  // what was asked before is shown no more
    const show = (/** @type {any[]} */ answer) => late || setFound(answer);
    if (ids.length) void ask("compare", { ids }).then(show, () => show([]));
    return () => { late = true; };
  }, [ids.join(), version]);
  const here = room.value;
  if (!here || found.length < 2) return html`<section class="panel empty" aria-label="Comparison"><p class="lead">Choose another draft to compare with.</p></section>`;
  const rows = /** @type {[string, (one: any) => string][]} */ ([
    ["The model errs", (one) => percent(one.figures.model.error)],
    ["An attacker errs", (one) => percent(one.figures.mean.error)],
    ["Answers", (one) => whole(one.figures.answers)],
    ["People alone", (one) => whole(one.figures.alone)],
    ["Certified error", (one) => percent(one.figures.certified)],
  ]);
  return html`<section class="panel" aria-label="Comparison"><div class="scroll" tabindex="0" role="region" aria-label="Comparison of drafts"><table class="comparison"><thead><tr><td></td>${found.map((one) => html`<th key=${one.id} scope="col">${one.name}</th>`)}</tr></thead>
    <tbody>${rows.map(([name, value]) => html`<tr key=${name} class="figures-row"><th scope="row">${name}</th>${found.map((one) => html`<td key=${one.id}>${value(one)}</td>`)}</tr>`)}
    ${differing(here.questions, found).map(({ question, j, same }) => {
      return html`<tr key=${question.name} class=${same ? "same" : "differs"}><th scope="row">${question.name}</th>${found.map((one) => html`<td key=${one.id}><${Answers} card=${one.cards[j]} /></td>`)}</tr>`;
    })}</tbody></table></div></section>`;
}

/** The questions, those first that are not asked alike. @param {import("./types.js").Question[]} questions @param {any[]} found */
function differing(questions, found) {
  const rows = questions.map((question, j) => {
    const texts = found.map((one) => words(one.cards[j]));
    return { question, j, same: texts.every((each) => each === texts[0]) };
  });
  return [...rows.filter((each) => !each.same), ...rows.filter((each) => each.same)];
}

/** @param {import("./types.js").Card} card */
function words(card) {
  return card.asked === "dropped" ? "not asked" : card.buckets.length ? card.buckets.map((each) => each.label).join("|") : "in full";
}

/** @param {{card: import("./types.js").Card}} props */
function Answers({ card }) {
  if (card.asked === "dropped") return html`<span class="soft">not asked</span>`;
  if (!card.buckets.length) return html`<span>in full</span>`;
  return html`${card.buckets.slice(0, 8).map((each) => html`<span key=${each.label} class="answer" title=${each.label}>${each.name || each.label}</span>`)}${card.buckets.length > 8 ? html`<span class="soft">and ${card.buckets.length - 8} more</span>` : ""}`;
}
