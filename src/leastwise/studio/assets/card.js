// One card a question: what it is, how people are spread, its buckets, and what it is worth.
import { useEffect, useRef, useState } from "preact/hooks";
import { counted, html, percent, points } from "./html.js";
import { NumberPicture } from "./number.js";
import { ask, edit, now, preview, proposal, room, told, weighed } from "./state.js";
import { Groups, Merge, PlainValues } from "./values.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Card} Card */

const STANDING = { dropped: "not asked", full: "asked in full", buckets: "" };

/** @param {{question: Question, card: Card}} props */
export function QuestionCard({ question, card: kept }) {
  const seen = preview.value?.attribute === question.name ? preview.value.card : kept;
  const change = proposal.value?.changed.find((each) => each.attribute === question.name);
  const standing = STANDING[seen.asked] || counted(seen.buckets.length, "answer");
  const titled = `question-${room.value?.questions.findIndex((each) => each.name === question.name)}`;
  return html`<article class=${`card ${seen.asked} ${kept.locked ? "locked" : ""} ${change ? "changed" : ""}`} aria-labelledby=${titled}>
    <header><h2 id=${titled}>${question.name}</h2><${CardTools} question=${question} card=${kept} /></header>
    <p class="sub"><span class=${question.personal ? "tag personal" : "tag"}>${question.personal ? "personal" : "not personal"}</span> ${question.domain} · <b>${standing}</b></p>
    ${Boolean(question.levels) && html`<${Levels} question=${question} card=${kept} />`}
    ${change && html`<p class="proposed">The proposal: ${change.before} → <b>${change.after}</b></p>`}
    <${Picture} question=${question} seen=${seen} kept=${kept} />
    <${WorthLine} question=${question} card=${kept} />
  </article>`;
}

/** @param {{question: Question, card: Card}} props */
function CardTools({ question, card }) {
  const attribute = question.name;
  return html`<div class="tools" role="group" aria-label=${`How ${attribute} is asked`}>
    <div class="switch">
      <button aria-pressed=${card.asked === "dropped"} disabled=${card.locked} onClick=${() => edit({ kind: "drop", attribute }, `${attribute} is not asked`)}>Drop</button>
      <button aria-pressed=${card.asked === "buckets"} disabled=${card.locked} onClick=${() => card.asked !== "buckets" && edit({ kind: "divide", attribute }, `${attribute} is asked in groups`)}>Groups</button>
      <button aria-pressed=${card.asked === "full"} disabled=${card.locked} onClick=${() => edit({ kind: "ask", attribute }, `${attribute} is asked in full`)}>In full</button>
    </div>
    <button class="lock" aria-pressed=${card.locked} aria-label=${card.locked ? `Unlock ${attribute}` : `Lock ${attribute}: this stays`} title=${card.locked ? "Locked: this stays" : "Lock: this stays"}
      onClick=${() => edit({ kind: card.locked ? "unlock" : "lock", attribute, what: "attribute" }, card.locked ? `${attribute} is free` : `${attribute} is locked`)}><${LockSign} shut=${card.locked} /></button></div>`;
}

/** Groups as the declared hierarchy makes them, from the smallest to the largest. @param {{question: Question, card: Card}} props */
function Levels({ question, card }) {
  const attribute = question.name;
  return html`<p class="levels">As declared: ${Array.from({ length: question.levels ?? 0 }, (_, i) => html`<button key=${i} class="small" disabled=${card.locked}
    onClick=${() => edit({ kind: "level", attribute, level: i + 1 }, `${attribute} is grouped as declared`)}>level ${i + 1}</button>`)}</p>`;
}

/** @param {{shut: boolean}} props */
export function LockSign({ shut }) {
  return html`<svg class="sign" viewBox="0 0 16 16" aria-hidden="true"><rect x="3" y="7" width="10" height="7" rx="1.6" /><path d=${shut ? "M5.2 7 V4.8 a2.8 2.8 0 0 1 5.6 0 V7" : "M5.2 7 V4.8 a2.8 2.8 0 0 1 5.4 -1"} /></svg>`;
}

/** @param {{question: Question, seen: Card, kept: Card}} props */
function Picture({ question, seen, kept }) {
  if (question.kind === "continuous") {
    return html`<${NumberPicture} question=${question} card=${seen} kept=${kept} />${seen.buckets.length > 0 && html`<${Strip} question=${question} card=${seen} />`}`;
  }
  if (seen.asked === "dropped" || seen.buckets.length === 0) return html`<${PlainValues} question=${question} off=${seen.asked === "dropped"} />`;
  return html`<${Groups} question=${question} card=${kept} actions=${(/** @type {number} */ bucket) => html`<${BucketMenu} question=${question} card=${kept} bucket=${bucket} />`} />`;
}

/** The buckets of a number as a strip, with a way to merge between each two. @param {{question: Question, card: Card}} props */
function Strip({ question, card }) {
  const numbers = (card.edges ?? []).length + 1;
  return html`<ol class="strip">${card.buckets.map((bucket, b) => html`
    <li key=${bucket.label} class=${bucket.locked ? "bucket locked" : "bucket"}>${b > 0 && b < numbers && html`<${Merge} question=${question} card=${card} second=${b} />`}<div><span class="label" title=${bucket.label}>${bucket.name || bucket.label}${bucket.name && html` <small>${bucket.label}</small>`}</span><span class="share">${bucket.few ? "few" : percent(bucket.share, bucket.share < 0.01 ? 1 : 0)}</span></div>
      <${Mix} classes=${bucket.classes} /><${BucketMenu} question=${question} card=${card} bucket=${b} /></li>`)}</ol>`;
}

/** Of which classes the people of a bucket are. @param {{classes: number[]}} props */
function Mix({ classes }) {
  const now_ = now.value;
  let from = 0;
  if (!now_ || classes.length === 0) return html`<svg class="mix" aria-hidden="true"></svg>`;
  return html`<svg class="mix" aria-hidden="true">${classes.map((share, c) => {
    const x = from;
    from += share;
    return html`<rect key=${c} class=${`class${Math.min(c, 3)}`} x=${`${100 * x}%`} width=${`${100 * share}%`} height="5" />`;
  })}</svg>`;
}

/** What can be done to one bucket. @param {{question: Question, card: Card, bucket: number}} props */
function BucketMenu({ question, card, bucket }) {
  const [open, setOpen] = useState(false);
  const [ways, setWays] = useState(/** @type {import("./types.js").Way[] | null} */ (null));
  const attribute = question.name, own = card.buckets[bucket];
  if (!own) return null;
  const shut = () => setOpen(false);
  async function whyThis() {
    setWays(await told(() => ask("why", { attribute, bucket })));
  }
  const sheet = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    const box = sheet.current;
    if (!open || !box) return undefined;
    // It opens to the side where there is room, and shuts when somebody looks elsewhere.
    if (box.getBoundingClientRect().left < 8) box.classList.add("rightwards");
    box.querySelector("button")?.focus();
    const away = (/** @type {PointerEvent} */ event) => event.target instanceof Node && !box.parentElement?.contains(event.target) && setOpen(false);
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);
  useEffect(() => { if (ways) sheet.current?.scrollIntoView({ block: "nearest" }); }, [ways]);
  const edges = (card.edges ?? []).length, extra = question.kind === "continuous" && bucket > edges;
  const missing = (question.extras ?? question.values ?? []).includes("missing") && own.label === "missing";
  return html`<div class="menu"><button class="dots" aria-expanded=${open} aria-label=${`More for ${own.name || own.label}`} onClick=${() => { setOpen(!open); setWays(null); }}>⋯</button>
    ${open && html`<div class="sheet" ref=${sheet} role="group" aria-label=${own.label} onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Escape" && shut()}>
      ${!extra && html`<button onClick=${() => { shut(); void edit({ kind: "split", attribute, bucket }, `${attribute}: split`); }}>Split in two</button>`}
      <button onClick=${() => { shut(); void edit({ kind: own.locked ? "unlock" : "lock", attribute, what: "bucket", value: own.label }); }}>${own.locked ? "Unlock" : "Lock: this stays"}</button>
      <button onClick=${whyThis}>Why this bucket?</button>
      ${missing && extra && html`<label>Put “missing” with <select onChange=${(/** @type {any} */ event) => { shut(); void edit({ kind: "move", attribute, pieces: [edges + 1 + (question.extras ?? []).indexOf("missing")], to: Number(event.target.value) }); }}>
        <option>…</option>${card.buckets.slice(0, edges + 1).map((each, i) => html`<option key=${i} value=${i}>${each.label}</option>`)}</select></label>`}
      <label>Name <input value=${own.name} maxlength="80" placeholder=${own.label.slice(0, 30)} onChange=${(/** @type {any} */ event) => { shut(); void edit({ kind: "rename", attribute, label: own.label, name: event.target.value }, event.target.value.trim() ? `${attribute}: it is called “${event.target.value.trim()}”` : `${attribute}: its name is gone`); }} /></label>
      ${ways && html`<${Ways} ways=${ways} />`}</div>`}</div>`;
}

/** @param {{ways: import("./types.js").Way[]}} props */
function Ways({ ways }) {
  const before = now.value?.figures;
  if (!before) return null;
  if (!ways.length) return html`<p class="note">It can neither be merged nor split.</p>`;
  return html`<table class="ways"><thead><tr><th scope="col">Points, if it were</th><th scope="col">model errs</th><th scope="col">attacker errs</th></tr></thead>
    <tbody>${ways.map((each) => html`<tr key=${each.words}><th scope="row" title=${each.words}><span>${each.words}</span></th><td>${points(each.figures.model.error - before.model.error, 2)}</td><td>${points(each.figures.mean.error - before.mean.error, 2)}</td></tr>`)}</tbody></table>`;
}

/** What the question is worth to the model, and what it tells an attacker. @param {{question: Question, card: Card}} props */
function WorthLine({ question, card }) {
  const own = weighed.value?.worth[question.name], stale = weighed.value?.fingerprint !== now.value?.fingerprint;
  const told = now.value?.figures.attributes[question.name];
  if (card.asked === "dropped") {
    return html`<footer class="worth">${told ? html`<span>An attacker is wrong about it for <b>${percent(told.error, 0)}</b> of the people; guessing, for ${percent(told.guessing, 0)}.</span>` : html`<span>Not personal, and not asked.</span>`}</footer>`;
  }
  if (!own) return html`<footer class="worth waiting"><span>Weighing what it is worth …</span></footer>`;
  const sure = 2 * own.error;
  return html`<footer class=${stale ? "worth waiting" : "worth"} title="The draft with this question against the draft without it, in points"><${Gauge} words="Helps the model" value=${own.loss} spread=${sure} top=${0.05} kind="good" />
    <${Gauge} words=${own.own == null ? "Tells an attacker of others" : "Tells an attacker of it"} value=${own.own ?? own.disclosed} spread=${0} top=${0.5} kind="bad" /></footer>`;
}

/** @param {{words: string, value: number, spread: number, top: number, kind: string}} props */
function Gauge({ words, value, spread, top, kind }) {
  const width = Math.min(100, Math.max(0, (100 * value) / top));
  return html`<span class=${`gauge ${kind}`}><span class="words">${words}</span><svg aria-hidden="true"><rect class="rail" width="100%" height="6" rx="3" /><rect class="fill" width=${`${width}%`} height="6" rx="3" /></svg>
    <span class="value">${points(value)}${spread ? html` <small>± ${(100 * spread).toFixed(1)}</small>` : ""}</span></span>`;
}
