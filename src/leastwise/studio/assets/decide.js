// The decision: a reason for each question, who is who, the sealed test part, and the approval.
import { useEffect, useState } from "preact/hooks";
import { counted, html, percent, points, whole } from "./html.js";
import { Progress } from "./help.js";
import { ask, change, commit, now, room, start, told, weighed } from "./state.js";
import { Writing } from "./writing.js";

/** @param {string} what @param {string} text @param {string} [attribute] */
function write(what, text, attribute) {
  return commit({ do: "write", what, text, ...(attribute ? { attribute } : {}) }, "Written down.");
}

export function Decide() {
  const state = now.value, here = room.value;
  if (!state || !here) return null;
  const proposed = weighed.value?.fingerprint === state.fingerprint ? weighed.value.proposed : state.proposed;
  return html`<div class="deciding"><section class="panel" aria-label="Rationale"><h2>Why each question is asked as it is</h2>
    <p class="lead">A text is proposed from the figures. Write over it where you know better.</p>
    <ol class="reasons">${here.questions.map((question, j) => html`<li key=${question.name}><label for=${`why-${j}`}><b>${question.name}</b>
      <span class="soft">${state.cards[j].asked === "dropped" ? "not asked" : state.cards[j].asked === "full" ? "in full" : counted(state.cards[j].buckets.length, "answer")}</span></label>
      <${Writing} id=${`why-${j}`} rows=${2} value=${state.words.rationale[question.name] || ""} placeholder=${proposed[question.name]} write=${(/** @type {string} */ text) => write("rationale", text, question.name)} />
      ${!state.words.rationale[question.name] && html`<button class="small plain" onClick=${() => write("rationale", proposed[question.name], question.name)}>Use the proposed text</button>`}</li>`)}</ol></section>
    <div class="side"><${People} /><${TestPart} /><${Approval} /><${Scripts} /></div></div>`;
}

function People() {
  const state = now.value;
  if (!state) return null;
  const fields = /** @type {[keyof import("./types.js").Words, string, string][]} */ ([["author", "Author", "who drew it"], ["reviewer", "Reviewer", "who read it"], ["approver", "Approver", "who signs it"]]);
  return html`<section class="panel" aria-label="Roles"><h2>Who</h2>${fields.map(([key, name, hint]) => html`<label key=${key} class="field">${name}
      <${Writing} value=${state.words[key]} placeholder=${hint} write=${(/** @type {string} */ text) => write(key, text)} /></label>`)}
    <label class="field">Because <${Writing} rows=${2} value=${state.words.because} placeholder="Why this draft, in one or two sentences" write=${(/** @type {string} */ text) => write("because", text)} /></label>
    <label class="field">Open points <${Writing} rows=${2} value=${state.words.open_points} placeholder="What is still to be settled" write=${(/** @type {string} */ text) => write("open_points", text)} /></label></section>`;
}

function TestPart() {
  const state = now.value, here = room.value;
  const [sure, setSure] = useState(false);
  if (!state || !here) return null;
  const running = state.job?.state === "running", before = state.opened.filter((each) => each !== state.fingerprint);
  if (state.final) {
    const f = state.final;
    return html`<section class="panel test opened" aria-label="Test part"><h2>The test part is open</h2>
      <p>Judged on ${whole(f.people)} people whom nobody had looked at for this draft, among ${here.tested + new Set([...state.opened, state.fingerprint]).size} candidates.</p>
      <dl class="pairs"><div><dt>The model errs</dt><dd>${percent(f.model.error)} <small>${percent(f.model.low)} to ${percent(f.model.high)}</small></dd></div>
        <div><dt>An attacker errs</dt><dd>${percent(f.mean.error)} <small>guessing ${percent(f.mean.guessing)}</small></dd></div>
        <div><dt>People alone</dt><dd>${whole(f.alone)}</dd></div><div><dt>Certified error</dt><dd>${percent(f.certified)}</dd></div></dl></section>`;
  }
  return html`<section class="panel test" aria-label="Test part"><h2>The sealed test part</h2>
    <p>${whole(here.people.sealed)} people were kept aside. They are opened for the final judgement of this draft, once: whoever changes it afterwards has seen them.</p>
    ${before.length > 0 && html`<p class="warn">It was opened before, for ${before.length === 1 ? "another draft" : "other drafts"} (${before.join(", ")}). Opening it again makes every bound pay for one more look.</p>`}
    <label class="check"><input type="checkbox" checked=${sure} onChange=${() => setSure(!sure)} /> This is the draft that I would decide for.</label>
    <button class="primary wide" disabled=${!sure || running} onClick=${() => start("final")}>Open the test part</button><${Progress} /></section>`;
}

function Approval() {
  const state = now.value, here = room.value;
  const [where, setWhere] = useState("");
  if (!state || !here) return null;
  const allowed = state.limits.max_error_increase, f = state.final;
  const increase = f ? f.model.error - here.before.model.error : 0;
  async function approve() {
    const found = await change("approve", {}, "Approved.");
    if (found) setWhere(found.decision);
  }
  if (state.approved) return html`<section class="panel approved" aria-label="Approval"><h2>Approved${state.words.approver || state.words.author ? ` by ${state.words.approver || state.words.author}` : ""}</h2><p>${where ? html`It lies in <code>${where}</code>. ` : "The decision lies in the run's folder, as decision.json. "}<code>leastwise check</code> holds it against newer people.</p></section>`;
  return html`<section class="panel" aria-label="Approval"><h2>Approve</h2>
    ${f && allowed != null && increase > allowed && html`<p class="warn">The model errs ${points(increase)} points more, and ${points(allowed)} are allowed. That needs a reason.</p>`}
    <label class="field">If a limit is broken, although <${Writing} rows=${2} value=${state.words.although} placeholder="Why it is decided nevertheless" write=${(/** @type {string} */ text) => write("although", text)} /></label>
    <button class="primary wide" disabled=${!f || !state.words.author || !state.words.because} onClick=${approve}>Approve this draft</button>
    <p class="note">${!f ? "First open the test part." : !state.words.author ? "First say who the author is." : !state.words.because ? "First say why: because." : "It freezes the artefact, its figures, the words and the people in decision.json."}</p></section>`;
}

export function Scripts() {
  const [texts, setTexts] = useState(/** @type {{python: string, commands: string} | null} */ (null));
  const [kind, setKind] = useState(/** @type {"python" | "commands" | null} */ (null));
  const [copied, setCopied] = useState(false);
  const [policy, setPolicy] = useState("");
  const fingerprint = now.value?.fingerprint;
  useEffect(() => {  // of the draft as it is now, whatever was asked before
    setPolicy("");
    setCopied(false);
    if (kind) void told(() => ask("scripts")).then(setTexts);
  }, [kind, fingerprint]);
  async function copy() {
    if (texts && kind) await navigator.clipboard.writeText(texts[kind]).then(() => setCopied(true), () => setCopied(false));
  }
  async function writePolicy() {
    const found = await told(() => ask("policy"));
    if (found) setPolicy(found.path);
  }
  return html`<section class="panel scripts" aria-label="As a script"><h2>The same without the studio</h2>
    <p>What was clicked is also a script: it makes the same file, byte for byte.</p>
    <div class="buttons"><button aria-pressed=${kind === "python"} onClick=${() => setKind("python")}>As Python</button><button aria-pressed=${kind === "commands"} onClick=${() => setKind("commands")}>As commands</button>
      <button onClick=${writePolicy}>Write the limits as a policy</button></div>
    ${policy && html`<p class="note">Written to <code>${policy}</code>.</p>`}
    ${texts && kind && html`<textarea class="code" readonly rows="8" aria-label="The script" value=${texts[kind]}></textarea><button class="small" onClick=${copy}>${copied ? "Copied" : "Copy"}</button>`}</section>`;
}
