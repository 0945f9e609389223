// The figures: before, now and best found, each on a track with its interval and the limit drawn in.
import { html, percent, points, whole } from "./html.js";
import { FrontierMap } from "./map.js";
import { commit, figures, now, preview, proposal, room } from "./state.js";
import { Writing } from "./writing.js";

/** @typedef {import("./types.js").Told} Told */

/** Whether what is shown was estimated, judged, or is only looked at. */
function standing() {
  if (proposal.value) return { text: "proposal", kind: "estimate" };
  if (preview.value) return { text: "while you drag", kind: "estimate" };
  return now.value?.judged ? { text: "judged", kind: "judged" } : { text: "estimate", kind: "estimate" };
}

/**
 * A track from one end to another with what was, what is, what was best, and what is allowed.
 * @param {{told: Told, before?: number, best?: number, limit?: number | null, least?: boolean, top: number, label: string}} props
 */
function Track({ told, before, best, limit, least, top, label }) {
  const x = (/** @type {number} */ share) => `${Math.min(100, Math.max(0, (100 * share) / top))}%`;
  const width = (/** @type {number} */ from, /** @type {number} */ to) => `${Math.max(0.6, (100 * (Math.min(to, top) - from)) / top)}%`;
  return html`<svg class="track" role="img" aria-label=${label}>
    <rect class="rail" x="0" y="12" width="100%" height="6" rx="3" />
    ${limit != null && html`<rect class="forbidden" x=${least ? 0 : x(limit)} y="12" width=${least ? x(limit) : width(limit, top)} height="6" />`}
    <rect class="spread" x=${x(told.low)} y="10" width=${width(told.low, told.high)} height="10" rx="3" />
    ${before != null && html`<line class="before" x1=${x(before)} x2=${x(before)} y1="6" y2="24" />`}
    ${best != null && html`<svg x=${x(best)} y="15" overflow="visible"><path class="best" d="M0 -6 L5 0 L0 6 L-5 0 Z" /></svg>`}
    ${limit != null && html`<line class="limit" x1=${x(limit)} x2=${x(limit)} y1="3" y2="27" />`}
    <circle class="now" cx=${x(told.error)} cy="15" r="5.5" />
  </svg>`;
}

/** @param {{value: string, kind: string}} props */
function Big({ value, kind }) {
  return html`<span class=${`big ${kind}`}>${kind === "estimate" ? html`<span class="about" aria-hidden="true">≈</span>` : ""}${value}</span>`;
}

function Model() {
  const shown = figures.value, here = room.value, state = now.value;
  if (!shown || !here || !state) return null;
  const { text, kind } = standing();
  const increase = state.limits.max_error_increase;
  const limit = increase == null ? null : here.before.model.error + increase;
  const beyond = limit != null && shown.model.error > limit;
  return html`<section class="figure main" aria-label="Model error">
    <header><h3>The model errs</h3><span class=${`stand ${kind}`}>${text}</span></header>
    <p class="headline"><${Big} value=${percent(shown.model.error)} kind=${kind} />
      <span class=${beyond ? "delta bad" : "delta"}>${points(shown.model.error - here.before.model.error)} points${beyond ? ", beyond the limit" : ""}</span></p>
    <${Track} told=${shown.model} before=${here.before.model.error} best=${here.best?.model.error} limit=${limit}
      top=${Math.max(here.nothing.model.error * 1.06, limit ?? 0)} label=${`now ${percent(shown.model.error)}, before ${percent(here.before.model.error)}`} />
    <${Legend} before=${percent(here.before.model.error)} best=${percent(here.best?.model.error)} limit=${limit == null ? null : `at most ${percent(limit)}`} />
  </section>`;
}

/** @param {{before: string, best: string, limit: string | null}} props */
function Legend({ before, best, limit }) {
  return html`<p class="legend"><span><i class="k before"></i>everything asked ${before}</span>
    ${best !== "–" && html`<span><i class="k best"></i>${room.value?.unchosen ? "nearest" : "best found"} ${best}</span>`}
    ${limit && html`<span><i class="k limit"></i>${limit}</span>`}</p>`;
}

function Attacker() {
  const shown = figures.value, here = room.value, state = now.value;
  if (!shown || !here || !state) return null;
  const { text, kind } = standing();
  const floor = state.limits.min_adversary_error;
  const names = Object.keys(shown.attributes);
  const guessing = state.figures.mean.guessing;
  return html`<section class="figure main" aria-label="Attacker's error">
    <header><h3>An attacker errs</h3><span class=${`stand ${kind}`}>${text}</span></header>
    <p class="headline"><${Big} value=${percent(shown.mean.error)} kind=${kind} />
      <span class="delta">guessing errs ${percent(guessing)}</span></p>
    <${Track} told=${shown.mean} before=${here.before.mean.error} best=${here.best?.mean.error} limit=${floor.mean ?? null} least
      top=${guessing * 1.06} label=${`now ${percent(shown.mean.error)} on the mean, guessing ${percent(guessing)}`} />
    <${Legend} before=${percent(here.before.mean.error)} best=${percent(here.best?.mean.error)} limit=${floor.mean == null ? null : `at least ${percent(floor.mean)}`} />
    <ul class="attributes">${names.map((name) => html`<${Attribute} key=${name} name=${name} told=${shown.attributes[name]}
      guessing=${state.figures.attributes[name].guessing} best=${here.best?.attributes[name]?.error} floor=${floor[name] ?? null} />`)}</ul>
  </section>`;
}

/** @param {{name: string, told: Told, guessing: number, best?: number, floor: number | null}} props */
function Attribute({ name, told, guessing, best, floor }) {
  const broken = floor != null && told.error < floor;
  return html`<li class=${broken ? "broken" : ""}><span class="name" title=${name}>${name}</span>
    <${Track} told=${told} best=${best} limit=${floor} least top=${Math.max(guessing, 0.02) * 1.04} label=${`${name}: wrong ${percent(told.error)}, guessing ${percent(guessing)}`} />
    <span class="value">${percent(told.error, 0)}</span></li>`;
}

function Counts() {
  const shown = figures.value, here = room.value, state = now.value;
  if (!shown || !here || !state) return null;
  const rows = [
    ["Answers in all", "", whole(shown.answers), here.best ? whole(here.best.answers) : "–", state.limits.max_buckets != null && shown.answers > state.limits.max_buckets],
    ["People alone", whole(here.before.alone), whole(shown.alone), here.best ? whole(here.best.alone) : "–", state.limits.max_unique != null && shown.alone > state.limits.max_unique],
    ["Certified error", percent(here.before.certified), percent(shown.certified), percent(here.best?.certified), false],
  ];
  return html`<section class="figure counts" aria-label="Counts"><table>
    <thead><tr><td></td><th scope="col">before</th><th scope="col">now</th><th scope="col">${here.unchosen ? "nearest" : "best"}</th></tr></thead>
    <tbody>${rows.map(([name, before, value, best, bad]) => html`<tr key=${name}><th scope="row">${name}</th><td>${before || "all"}</td>
      <td class=${bad ? "is bad" : "is"}>${value}</td><td>${best}</td></tr>`)}</tbody></table>
    <p class="note">Alone: of ${whole(shown.people)} people, with their answers and label. Certified: nobody who sees only these answers and labels errs less, as far as these people tell.</p>
  </section>`;
}

/** How many drafts were looked at on the same people, and what that costs. */
function Peeking() {
  const state = now.value, here = room.value;
  if (!state || !here) return null;
  const paid = state.figures.paid ?? 0;
  return html`<section class="figure peeking" aria-label="Peeking">
    <header><h3>Looked at</h3><span class="stand">${whole(state.looks)} draft${state.looks === 1 ? "" : "s"}</span></header>
    <div class="meter" role="img" aria-label=${`costs ${points(paid, 2)} points`}><${Bar} share=${Math.min(1, paid / 0.02)} /></div>
    <p class="note">All on the same ${whole(here.people.looked)} people, so a bound pays for each: ${points(-paid, 2)} points.
      ${state.opened.length ? ` The test part was opened ${state.opened.length === 1 ? "once" : `${state.opened.length} times`}.` : ` The ${whole(here.people.sealed)} people of the test part are sealed until you decide.`}</p>
  </section>`;
}

/** @param {{share: number}} props */
function Bar({ share }) {
  return html`<svg class="bar"><rect class="rail" width="100%" height="6" rx="3" /><rect class="fill" width=${`${100 * share}%`} height="6" rx="3" /></svg>`;
}

/** The strong judgement: on request, in the background. */
function Judgement() {
  const state = now.value;
  if (!state) return null;
  if (state.judged) {
    return html`<section class="figure judgement"><header><h3>The attacks</h3><span class="stand judged">judged</span></header><p class="note">By the strongest classifier and attackers, on the validation part. How often each is wrong:</p>
      <ul class="attacks">${(state.judged.attacks ?? []).map((each) => html`<li key=${each.name}><b>${each.name}</b><span>${percent(each.error)}</span><span class="soft">guessing ${percent(each.guessing)}</span></li>`)}</ul></section>`;
  }
  return html`<section class="figure judgement"><p class="note">Estimates steer. The strongest classifier and the attacks A1 to A8 decide: “Judge this draft” takes a minute or so.</p></section>`;
}

/** @param {string} key @param {string} text */
function setLimit(key, text) {
  const limits = now.value?.limits;
  if (!limits) return;
  const value = text.trim() === "" ? null : Number(text);
  if (value != null && !Number.isFinite(value)) return;
  const kept = Object.fromEntries(Object.entries(limits).filter(([, each]) => each != null));
  if (key.startsWith("attribute ")) {
    const own = { ...limits.min_adversary_error };
    const name = key.slice(10);
    if (value == null) delete own[name];
    else own[name] = value / 100;
    void commit({ do: "limits", limits: { ...kept, min_adversary_error: own } }, "The limits are kept.");
    return;
  }
  const scaled = value == null ? undefined : key === "max_error_increase" ? value / 100 : Math.round(value);
  void commit({ do: "limits", limits: { ...kept, [key]: scaled } }, "The limits are kept.");
}

function Limits() {
  const state = now.value;
  if (!state) return null;
  const { limits } = state;
  const share = (/** @type {number | null | undefined} */ each) => (each == null ? "" : String(Math.round(10000 * each) / 100));
  const fields = [
    ["max_error_increase", "The model may err more by", share(limits.max_error_increase), "points"],
    ["attribute mean", "An attacker must err at least", share(limits.min_adversary_error.mean), "%"],
    ["max_unique", "People alone, at most", limits.max_unique ?? "", ""],
    ["max_buckets", "Answers, at most", limits.max_buckets ?? "", ""],
  ];
  return html`<details class="figure limits"><summary>Limits</summary>
    ${fields.map(([key, words, value, unit]) => html`<label key=${key}><span>${words}</span>
      <${Writing} patient inputmode="decimal" value=${String(value)} write=${(/** @type {string} */ text) => setLimit(String(key), text)} /> <i>${unit}</i></label>`)}
    ${Object.keys(state.figures.attributes).map((name) => html`<label key=${name}><span>wrong about ${name}, at least</span>
      <${Writing} patient inputmode="decimal" value=${share(limits.min_adversary_error[name])} write=${(/** @type {string} */ text) => setLimit(`attribute ${name}`, text)} /> <i>%</i></label>`)}
  </details>`;
}

export function FiguresPanel() {
  return html`<div class="figures" aria-live="off"><${Model} /><${Attacker} /><${FrontierMap} /><${Counts} /><${Judgement} /></div>`;
}

/** What was looked at, and what must be kept: below all that changes. */
export function Looking() {
  return html`<${Peeking} /><${Limits} />`;
}
