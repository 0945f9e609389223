// Help from the machine: improve the rest, round, fewer answers, fuller buckets; proposals are previewed first.
import { useEffect, useRef, useState } from "preact/hooks";
import { html, percent, points } from "./html.js";
import { cancel, commit, now, proposal, start, view } from "./state.js";

const WORDS = { judge: "Judging the draft", final: "Opening the test part", improve: "Looking for better drafts", round: "Rounding the edges", fewer: "Looking for fewer answers", fill: "Filling the buckets" };

export function Help() {
  const [fewest, setFewest] = useState("100");
  const job = now.value?.job, running = job?.state === "running";
  return html`<section class="figure help" aria-label="Help from the machine"><header><h3>Let the machine help</h3></header>
    <p class="note">“Improve the rest” looks for better drafts; what is locked stays. Or one step at a time:</p>
    <div class="buttons"><button disabled=${running} onClick=${() => start("round")}>Round the edges</button>
      <button disabled=${running} onClick=${() => start("fewer")}>Fewer answers</button>
      <span class="pair"><button disabled=${running} onClick=${() => start("fill", { fewest: Number(fewest) })}>No bucket below</button>
      <input aria-label="people" inputmode="numeric" value=${fewest} onInput=${(/** @type {any} */ event) => setFewest(event.target.value)} /> people</span></div>
    <${Proposals} /></section>`;
}

/** What is asked of the machine most often, and how far it is: always in sight. */
export function Acts() {
  const state = now.value, running = state?.job?.state === "running";
  if (!state) return null;
  return html`<section class="acts" aria-label="Judge and improve">${view.value !== "decide" || !running ? html`<${Progress} />` : ""}
    <div class="buttons"><button disabled=${running || Boolean(state.judged)} title="By the strongest classifier and the attacks A1 to A8, in the background" onClick=${() => start("judge")}>${state.judged ? "Judged" : "Judge this draft"}</button>
      ${view.value !== "decide" && html`<button class="primary" disabled=${running} onClick=${() => start("improve")}>Improve the rest</button>`}</div></section>`;
}

export function Progress() {
  const job = now.value?.job;
  if (!job || job.state === "done") return null;
  if (job.state !== "running") return html`<p class="note" role="status">${job.state === "failed" ? `It did not work: ${job.error}` : "Cancelled."}</p>`;
  const share = job.total ? job.done / job.total : null;
  return html`<div class="progress" role="status"><p>${WORDS[/** @type {keyof typeof WORDS} */ (job.kind)] ?? job.kind}: ${job.words}</p>
    <progress aria-label="How far it is" value=${share} max="1"></progress><button class="small" onClick=${cancel}>Cancel</button></div>`;
}

function Proposals() {
  const state = now.value, job = state?.job;
  const here = state && job?.state === "done" && Array.isArray(job.result) && job.about === state.fingerprint;
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [here && job?.id]);
  if (!here) return null;
  if (!job.result.length) return html`<p class="note" role="status" ref=${place}>Nothing better was found: what is here is as good as it gets under these locks.</p>`;
  return html`<ul class="proposals" ref=${place} aria-label="Proposals">${job.result.map((/** @type {import("./types.js").Proposal} */ each) => html`<${One} key=${each.words} one=${each} />`)}</ul>`;
}

/** @param {{one: import("./types.js").Proposal}} props */
function One({ one }) {
  const before = now.value?.figures, shown = proposal.value?.words === one.words;
  if (!before) return null;
  return html`<li class=${shown ? "shown" : ""}><b>${one.words}</b>
    <dl><div><dt>model errs</dt><dd>${percent(one.figures.model.error)} <i>${points(one.figures.model.error - before.model.error)}</i></dd></div>
      <div><dt>attacker errs</dt><dd>${percent(one.figures.mean.error)} <i>${points(one.figures.mean.error - before.mean.error)}</i></dd></div>
      <div><dt>answers</dt><dd>${one.figures.answers}</dd></div></dl>
    <p class="note">${one.changed.map((each) => each.attribute).join(", ")} ${one.changed.length === 1 ? "changes" : "change"}</p>
    <div class="buttons"><button aria-pressed=${shown} onClick=${() => (proposal.value = shown ? null : one)}>${shown ? "Stop looking" : "Look at it"}</button>
      <button class="primary" onClick=${() => commit({ do: "load", generalization: one.generalization, words: one.words }, "The proposal is the draft now.")}>Take it</button></div></li>`;
}
