// The page: finds buckets for exact values, checks that every question is answered, and sends the answers.
// Names come from an untrusted file: a field may be called "submit" or "action", so the form is only read through
// FormData and attributes, and every text is set as text.

const plan = JSON.parse(document.getElementById("plan").textContent);
const form = document.getElementById("form");
const action = form.getAttribute("action");
const attributeOf = (place) => plan.attributes[place];
const within = (element, selector) => element.querySelector(selector);
const sentences = JSON.parse(document.getElementById("sentences").textContent);
const say = (text, part = "") => (sentences[text] ?? text).replace("{}", () => part);
const each = (selector, act) => document.querySelectorAll(selector).forEach(act);

function show(element, text) {
  element.textContent = text;
  element.hidden = text === "";
}

// --- errors ---

function controls(question) {
  return question.querySelectorAll(".choices input, .answer");
}

function complain(question, text, at) {
  show(within(question, ":scope > .error"), text);
  question.classList.toggle("wrong", text !== "");
  controls(question).forEach((control) => control.removeAttribute("aria-invalid"));
  const typed = within(question, ".typed");
  if (typed) typed.removeAttribute("aria-invalid");
  if (text && at) at.setAttribute("aria-invalid", "true");
}

function problemOf(question) {
  const [first] = controls(question);
  if (first.type === "radio") {
    return [...controls(question)].some((radio) => radio.checked) ? "" : say("Please choose one of the answers.");
  }
  if (first.tagName === "SELECT") return first.value ? "" : say("Please choose one of the answers.");
  return numberProblem(question, first.value);
}

function numberProblem(question, text) {
  const { missing } = attributeOf(question.dataset.place);
  return text.trim() === "" && !missing ? say("Please write a number.") : misfit(question, plainNumber(text));
}

function misfit(question, value) {
  const attribute = attributeOf(question.dataset.place);
  // Who writes a date in another way can be asked again, and is not taken for "other".
  const misread = attribute.derive && value === attribute.derive.refused;
  try {
    answer(attribute, value, "labels", misread ? "error" : "other");
    return "";
  } catch (error) {
    if (!(error instanceof UnknownValueError)) throw error;
    return say("This does not fit: {}.", question.dataset.domain);
  }
}

// --- the helper: an exact value becomes a bucket, here and nowhere else ---

// People write numbers as they are used to: 1,200 or 1 200, and 1.234,5 where the comma is the decimal sign.
// Who chose the page's language writes numbers so; elsewhere the browser's language says how.
const chosen = document.documentElement.lang;
const browsers = !within(document, "nav") || navigator.language.split("-")[0] === chosen.split("-")[0];
const LOCALE = browsers ? navigator.language : chosen;
const DECIMAL = new Intl.NumberFormat(LOCALE).formatToParts(1.5).find((one) => one.type === "decimal").value;

function plainNumber(text) {
  const bare = text.replace(/[\s'’]/g, "");
  if (!/^[+-]?[0-9][0-9.,]*$/.test(bare)) return text;
  const both = bare.includes(",") && bare.includes(".");
  const comma = both ? bare.lastIndexOf(",") > bare.lastIndexOf(".") : DECIMAL === ",";
  const [decimal, group] = comma ? [",", "."] : [".", ","];
  const grouped = new RegExp(`^[+-]?[0-9]{1,3}([${group}][0-9]{3})+([${decimal}][0-9]+)?$`);
  if (grouped.test(bare)) return bare.replaceAll(group, "").replace(decimal, ".");
  return bare.split(/[.,]/).length <= 2 ? bare.replace(",", ".") : text;
}

function typedValue(question) {
  const typed = within(question, ".typed");
  const attribute = attributeOf(question.dataset.place);
  const text = typed.value.trim();
  if (text === "") return "";
  if (typed.tagName === "SELECT") return attribute.values[Number(text)];
  return attribute.derive ? derived(attribute.derive, text) : plainNumber(typed.value);
}

function findBucket(question) {
  const attribute = attributeOf(question.dataset.place);
  const value = typedValue(question);
  if (value.trim() === "") return { label: "", problem: "" };
  const problem = misfit(question, value);
  return { label: problem ? "" : answer(attribute, value), problem };
}

function textOfLabel(question, label) {
  for (const control of controls(question)) {
    if (control.type === "radio" && control.value === label) return control.parentElement.textContent.trim();
    if (control.tagName === "SELECT") {
      const option = [...control.options].find((one) => one.value === label);
      if (option) return option.textContent;
    }
  }
  return label;
}

function choose(question, label) {
  const all = [...controls(question)];
  if (all[0].type !== "radio") all[0].value = label;
  else all.find((radio) => radio.value === label).checked = true; // the first: "prefer not to say" may share its label
}

function preview(question) {
  const { label, problem } = findBucket(question);
  within(question, ".becomes").textContent = label ? say("becomes “{}”", textOfLabel(question, label)) : "";
  // Somebody who is still typing is not told off; what was wrong before is cleared as soon as it is right.
  if (!problem) complain(question, "");
  if (label) choose(question, label);
}

function settle(question) {
  const typed = within(question, ".typed");
  if (!typed || typed.value === "") return;
  const { label, problem } = findBucket(question);
  if (problem) complain(question, problem, typed); // and it stays, to be corrected; it is cleared before sending
  if (!label) return;
  typed.value = "";
  choose(question, label);
  within(question, ".becomes").textContent = say("becomes “{}” · your entry is cleared", textOfLabel(question, label));
  refresh();
}

function forget() {
  each(".typed", (typed) => { typed.value = ""; });
  each(".becomes", (shown) => { shown.textContent = ""; });
}

function turnHelper(on) {
  forget();
  each(".helper", (part) => { part.hidden = !on; });
}

// --- what leaves ---

function record() {
  const fields = [...new FormData(form)].filter(([, value]) => typeof value === "string");
  const numbers = new Map();
  each(".question", (question) => {
    const attribute = attributeOf(question.dataset.place);
    if (attribute && attribute.untouched) numbers.set(attribute.name, question);
  });
  return Object.fromEntries(fields.map(([name, value]) => {
    const question = numbers.get(name);
    if (!question || numberProblem(question, value)) return [name, value];
    return [name, answer(attributeOf(question.dataset.place), plainNumber(value))];
  }));
}

function refresh() {
  const given = Object.entries(record()).filter(([, value]) => value !== ""); // a list without a choice yet
  document.getElementById("preview").textContent = JSON.stringify(Object.fromEntries(given), null, 1);
}

function check() {
  const questions = [...form.querySelectorAll(".question")];
  const wrong = questions.filter((question) => {
    const problem = problemOf(question);
    complain(question, problem, problem && controls(question)[0]);
    return problem !== "";
  });
  if (wrong.length) {
    const [first] = wrong;
    const helper = within(first, ".helper");
    (helper && !helper.hidden ? within(first, ".typed") : controls(first)[0]).focus();
  }
  return wrong.length === 0;
}

function sameOrigin() {
  const target = new URL(action, location.href);
  return location.protocol.startsWith("http") && target.origin === location.origin;
}

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

let key = newKey(); // the same for every attempt to send one set of answers, so that none is stored twice

async function send() {
  const button = document.getElementById("send");
  button.disabled = true;
  show(document.getElementById("form-error"), "");
  try {
    const response = await fetch(action, {
      method: "POST",
      headers: { Accept: "application/json", "Idempotency-Key": key },
      body: new URLSearchParams(Object.entries(record())),
      credentials: "same-origin",
    });
    const told = await response.json().catch(() => null);
    if (response.ok) finish(told);
    else refuse(response.status, told);
  } catch {
    show(document.getElementById("form-error"), say("The answers could not be sent. They are still here; try again."));
  } finally {
    button.disabled = false;
  }
}

function refuse(status, told) {
  const named = told && Array.isArray(told.problems) ? told.problems.map((one) => one.field) : [];
  form.querySelectorAll(".question").forEach((question) => {
    const name = controls(question)[0].getAttribute("name");
    if (named.includes(name)) complain(question, say("This answer was not accepted."), controls(question)[0]);
  });
  const text = status === 429 ? say("Too many answers at once; wait a moment and try again.")
    : say("The answers were not accepted ({}). They are still here.", status);
  show(document.getElementById("form-error"), text);
}

const FACTS = [
  ["prediction", say("The answer")],
  ["receipt", say("Your receipt: keep it, it is the only way to have these answers erased")],
];

function finish(told) {
  const list = document.getElementById("done-facts");
  list.replaceChildren();
  for (const [name, text] of FACTS) {
    if (!told || !["string", "number", "boolean"].includes(typeof told[name])) continue;
    const term = document.createElement("dt");
    const said = document.createElement("dd");
    term.textContent = text;
    said.textContent = String(told[name]);
    list.append(term, said);
  }
  leave();
}

function keep() {
  const text = `${JSON.stringify(record(), null, 1)}\n`;
  show(document.getElementById("done-record"), text);
  const link = document.getElementById("download");
  URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.hidden = false;
  leave();
}

function leave() {
  const done = document.getElementById("done");
  form.hidden = true;
  document.getElementById("helper-switch").hidden = true;
  done.hidden = false;
  done.focus();
}

function again() {
  document.getElementById("done").hidden = true;
  document.getElementById("helper-switch").hidden = !within(form, ".helper");
  form.hidden = false;
  key = newKey();
  if (action !== null) HTMLFormElement.prototype.reset.call(form);
  forget();
  refresh();
  within(form, "input, select").focus();
}

function submitted(event) {
  each(".question", settle);
  if (action !== null && !sameOrigin()) {
    if (!check()) event.preventDefault();
    return; // the browser posts the form itself, as it does without this script
  }
  event.preventDefault();
  if (!check()) return;
  if (action === null) keep();
  else send();
}

function start() {
  form.setAttribute("novalidate", ""); // our own messages are linked to their questions
  const helper = document.getElementById("helper");
  document.getElementById("helper-switch").hidden = !within(form, ".helper");
  document.getElementById("sent").hidden = false;
  helper.checked = helper.hasAttribute("data-start");
  helper.addEventListener("change", () => turnHelper(helper.checked));
  each(".question", (question) => {
    const typed = within(question, ".typed");
    if (!typed) return;
    typed.addEventListener("input", () => preview(question));
    typed.addEventListener("change", () => settle(question));
  });
  // At "input", not at "change": a message that vanishes when the field is left moves the button under the mouse.
  form.addEventListener("input", (event) => {
    const question = event.target.closest(".question");
    if (question && !event.target.classList.contains("typed")) complain(question, "");
    refresh();
  });
  form.addEventListener("submit", submitted);
  window.addEventListener("pagehide", forget);
  const unfold = (open) => each("select", (select) => { select.size = open ? select.length : 0; });
  window.addEventListener("beforeprint", () => unfold(true)); // on paper a list that drops down tells nothing
  window.addEventListener("afterprint", () => unfold(false));
  document.getElementById("again").addEventListener("click", again);
  turnHelper(helper.checked);
  refresh();
}

start();
