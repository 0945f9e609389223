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
/** @type {import("@preact/signals").Signal<Record<string, import("./types.js").Worth>>} */
export const worth = signal({});
/** What the page says aloud, and shows at its foot. */
export const message = signal("");
export const problem = signal("");
export const busy = signal(false);
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
  if (found.conflict) now.value = await ask("now");
  throw new Error(found.problem);
}

/**
 * Ask, and tell what goes wrong where people look.
 * @param {() => Promise<any>} work
 */
async function told(work) {
  busy.value = true;
  try {
    const found = await work();
    problem.value = "";
    return found;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    problem.value = text === "Failed to fetch" ? "The studio does not answer. Is it still running? Your work is on its disk." : text;
    return null;
  } finally {
    busy.value = false;
  }
}

export async function open() {
  await told(async () => {
    room.value = await ask("room");
    show(await ask("now"));
    if (room.value?.going) awaitRun();
  });
}

/** While the run goes on in the background, ask now and then whether it is there. */
export function awaitRun() {
  const asking = window.setInterval(async () => {
    const found = await ask("room").catch(() => null);
    if (found) room.value = found;
    if (found && !found.going) window.clearInterval(asking);
  }, 5000);
}

/** @param {Now} found */
function show(found) {
  batch(() => {
    now.value = found;
    lookAway();
    proposal.value = null;
  });
  if (found.job?.state === "running") void follow();
  weigh();
}

/** What was asked last: commits of one page wait for each other, so that none is taken for another window's. */
let before = Promise.resolve(/** @type {any} */ (null));

/**
 * Commit one event.
 * @param {object} event
 * @param {string} [said]
 * @returns {Promise<boolean>}
 */
export function commit(event, said = "") {
  const mine = before.then(() => committed(event, said));
  before = mine.catch(() => null);
  return mine;
}

/** Wait until everything that was done is kept. */
export function settled() {
  return before;
}

/** @param {object} event @param {string} said */
async function committed(event, said) {
  const found = await told(() => ask("do", { event, version: now.value?.version ?? 0 }));
  if (found) {
    show(found);
    say(said);
  } else {
    lookAway();
  }
  return Boolean(found);
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

/** What each question is worth, asked when the draft has been still for a moment. */
function weigh() {
  window.clearTimeout(weighing);
  weighing = window.setTimeout(async () => {
    try {
      const found = await ask("worth");
      if (found.fingerprint === now.value?.fingerprint) worth.value = found.worth;
    } catch {
      // The next edit asks again.
    }
  }, 500);
}

/** @param {string} id */
export async function loadCandidate(id) {
  await before;
  const found = await told(() => ask("candidate", { id, version: now.value?.version ?? 0 }));
  if (found) {
    show(found);
    say("The candidate is the draft now. Undo brings the other one back.");
  }
}

/**
 * Start work that takes longer.
 * @param {string} kind
 * @param {object} [more]
 */
export async function start(kind, more = {}) {
  await before;
  const found = await told(() => ask("job", { kind, version: now.value?.version ?? 0, ...more }));
  if (found) {
    if (now.value) now.value = { ...now.value, job: found.job };
    void follow();
  }
}

export async function cancel() {
  await told(() => ask("cancel"));
}

let following = false;

/** Follow the work until it ends. */
async function follow() {
  if (following) return;
  following = true;
  let wait = 300;
  for (;;) {
    await new Promise((done) => window.setTimeout(done, wait));
    wait = Math.min(1500, wait * 1.2);
    const found = await ask("progress").catch(() => null);
    if (!found || !now.value) break;
    now.value = { ...now.value, job: found.job };
    if (found.job?.state !== "running") break;
  }
  following = false;
  const job = now.value?.job;
  if (job?.state === "done" && (job.kind === "judge" || job.kind === "final")) show(await ask("now"));
}
