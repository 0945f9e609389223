// What the page knows, as signals, and the few questions it asks the server. Nothing is drawn here.
import { batch, computed, signal } from "@preact/signals";

/** @typedef {import("./types.js").Now} Now */
/** @typedef {import("./types.js").Edit} Edit */

/** @type {import("@preact/signals").Signal<import("./types.js").Room | null>} */
export const room = signal(null);
/** @type {import("@preact/signals").Signal<Now | null>} */
export const now = signal(null);
/** What a drag would give, while it goes on. @type {import("@preact/signals").Signal<import("./types.js").Preview | null>} */
export const preview = signal(null);
/** What each question was worth, and of which draft. @type {import("@preact/signals").Signal<import("./types.js").Weighed | null>} */
export const weighed = signal(null);
/** What the page says aloud, and shows at its foot. */
export const message = signal("");
export const problem = signal("");
/** How many questions are on their way. */
export const busy = signal(0);
/** @type {import("@preact/signals").Signal<"draw" | "compare" | "decide">} */
export const view = signal("draw");
/** A proposal that is held against the draft. @type {import("@preact/signals").Signal<import("./types.js").Proposal | null>} */
export const proposal = signal(null);

/** The figures that count now: of the preview, the judgement, or the estimate. */
export const figures = computed(() => proposal.value?.figures ?? preview.value?.figures ?? now.value?.judged ?? now.value?.figures ?? null);

/**
 * @param {string} name
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export async function ask(name, body = {}) {
  const answer = await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const found = await answer.json();
  if (answer.ok) return found;
  if (found.conflict) show(await ask("now"));
  throw new Error(found.problem);
}

/**
 * Ask, and tell what goes wrong where people look.
 * @param {() => Promise<any>} work
 */
export async function told(work) {
  busy.value += 1;
  try {
    const found = await work();
    problem.value = "";
    return found;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    problem.value = text === "Failed to fetch" ? "The studio does not answer. Is it still running? Your work is on its disk." : text;
    return null;
  } finally {
    busy.value -= 1;
  }
}

export async function open() {
  await told(async () => {
    room.value = await ask("room");
    show(await ask("now"));
    void awaitRun();
  });
}

/** While the run goes on in the background, ask now and then whether it is there. */
async function awaitRun() {
  while (room.value?.going) {
    await pause(5000);
    const found = await ask("room").catch(() => null);
    if (found) room.value = found;
  }
}

/** @param {number} wait */
function pause(wait) {
  return new Promise((done) => window.setTimeout(done, wait));
}

/** Show the state; what was on its way while something newer was done is passed over. @param {Now} found */
export function show(found) {
  if (now.value && found.version < now.value.version) return;
  batch(() => {
    now.value = found;
    lookAway();
    proposal.value = null;
  });
  if (found.job?.state === "running") void follow();
  weigh();
}

/** What was asked last: whatever changes the state waits for it, or one would be taken for another window's. */
let before = Promise.resolve(/** @type {any} */ (null));

/**
 * Change the version of the state that is shown, after all that was asked before, and show what came out.
 * @param {string} name
 * @param {object} body
 * @param {string} [said]
 * @returns {Promise<any>} null where it went wrong, which is told
 */
export function change(name, body, said = "") {
  before = before.then(async () => {
    const found = await told(() => ask(name, { ...body, version: now.value?.version ?? 0 }));
    if (!found) lookAway();
    else show(found);
    if (found && said) say(said);
    return found;
  });
  return before;
}

/**
 * Commit one event.
 * @param {object} event
 * @param {string} [said]
 * @returns {Promise<boolean>}
 */
export async function commit(event, said = "") {
  return Boolean(await change("do", { event }, said));
}

/**
 * @param {Edit} change
 * @param {string} [said]
 */
export function edit(change, said) {
  return commit({ do: "edit", edit: change }, said ?? `${change.attribute}: done`);
}

let silence = 0;

/** Say something at the foot of the page, for a moment. @param {string} text */
export function say(text) {
  window.clearTimeout(silence);
  message.value = text;
  silence = window.setTimeout(() => (message.value = ""), 4000);
}

/** @type {Edit | null} */
let wanted = null;
let asking = false;
/** Counts what has been looked away from: an answer that was on its way meanwhile is shown no more. */
let away = 0;

/**
 * Show what an edit would change. While one is on its way only the newest waits.
 * @param {Edit} change
 */
export async function look(change) {
  wanted = change;
  if (asking) return;
  asking = true;
  while (wanted) {
    const next = wanted, asked = away;
    wanted = null;
    try {
      const found = await ask("preview", { edit: next });
      if (asked !== away) continue;
      preview.value = found;
      problem.value = "";
    } catch {
      // An edge beyond its neighbour: the handle says so by standing still.
    }
  }
  asking = false;
}

export function lookAway() {
  away += 1;
  wanted = null;
  preview.value = null;
}

let weighing = 0;

/** What each question is worth, asked when the draft has been still for a moment. @param {number} [wait] */
function weigh(wait = 500) {
  window.clearTimeout(weighing);
  if (weighed.value?.fingerprint === now.value?.fingerprint) return;
  weighing = window.setTimeout(async () => {
    const found = await ask("worth").catch(() => null);
    const state = now.value;
    if (!found || !state || found.fingerprint !== state.fingerprint) return weigh(Math.min(8000, 2 * wait));
    batch(() => {
      weighed.value = found;
      now.value = { ...state, looks: found.looks, figures: found.figures };
    });
  }, wait);
}

/** @param {string} id */
export function loadCandidate(id) {
  return change("candidate", { id }, "The candidate is the draft now. Undo brings the other one back.");
}

/**
 * Start work that takes longer.
 * @param {string} kind
 * @param {object} [more]
 */
export function start(kind, more = {}) {
  return change("job", { kind, ...more });
}

export async function cancel() {
  await told(() => ask("cancel"));
}

let following = false;

/** Follow the work until it ends; a question that is lost on the way is asked again. */
async function follow() {
  if (following) return;
  following = true;
  for (let wait = 300; now.value?.job?.state === "running"; wait = Math.min(1500, wait * 1.2)) {
    await pause(wait);
    const found = await ask("progress").catch(() => null);
    if (found && now.value) now.value = { ...now.value, job: found.job };
  }
  following = false;
  const job = now.value?.job;
  if (job?.state === "done" && (job.kind === "judge" || job.kind === "final")) {
    const found = await told(() => ask("now"));
    if (found) show(found);
  }
}
