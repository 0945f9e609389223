// The page: a bar, three views, and the figures beside them.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { QuestionCard } from "./card.js";
import { Decide } from "./decide.js";
import { FiguresPanel, Looking } from "./figures.js";
import { Acts, Help } from "./help.js";
import { html } from "./html.js";
import { Shelf } from "./shelf.js";
import { busy, commit, message, now, open, preview, problem, room, view } from "./state.js";
import { Tour, TourButton, welcome } from "./tour.js";

const VIEWS = /** @type {const} */ ([["draw", "Draw"], ["compare", "Compare"], ["decide", "Decide"]]);

function Bar() {
  const state = now.value, here = room.value;
  return html`<header class="top"><h1 class="brand"><b>leastwise</b> studio</h1><p class="about" title=${here?.folder}>${here?.title}<span> · predicts ${here?.label.name}</span></p>
    <nav class="views" aria-label="Views">${VIEWS.map(([key, name]) => html`<button key=${key} aria-current=${view.value === key ? "page" : undefined} onClick=${() => (view.value = key)}>${name}</button>`)}</nav>
    <div class="history"><button disabled=${!state?.history.undo} title=${state?.history.undo ? `Undo: ${state.history.undo}` : "Nothing to undo"} onClick=${() => commit({ do: "undo" }, "Undone.")}>Undo</button>
      <button disabled=${!state?.history.redo} title=${state?.history.redo ? `Redo: ${state.history.redo}` : "Nothing to redo"} onClick=${() => commit({ do: "redo" }, "Redone.")}>Redo</button></div>
    <${Theme} /><${TourButton} /></header>`;
}

function Theme() {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const [dark, setDark] = useState(system.matches);
  useEffect(() => {
    const turned = () => !document.documentElement.dataset.theme && setDark(system.matches);
    system.addEventListener("change", turned);
    return () => system.removeEventListener("change", turned);
  }, []);
  function turn() {
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    setDark(!dark);
  }
  return html`<button class="plain" onClick=${turn}>${dark ? "Light" : "Dark"}</button>`;
}

function Draw() {
  const here = room.value, state = now.value;
  const [sought, setSought] = useState("");
  if (!here || !state) return null;
  const many = here.questions.length > 20;
  const shown = here.questions.map((question, j) => ({ question, card: state.cards[j] })).filter(({ question }) => question.name.toLowerCase().includes(sought.toLowerCase()));
  // What is asked comes first, and keeps its place while it is edited.
  const order = [...shown].sort((a, b) => Number(a.card.asked === "dropped") - Number(b.card.asked === "dropped"));
  const asked = order.filter((each) => each.card.asked !== "dropped").length;
  return html`${here.unchosen && html`<p class="warn unchosen">${here.unchosen}</p>`}${many && html`<label class="seek">Find a question <input type="search" value=${sought} onInput=${(/** @type {any} */ event) => setSought(event.target.value)} /></label>`}
    <div class="heading"><h2 class="part">Asked <span>${asked}</span></h2><${Classes} /></div>${!asked && html`<p class="lead nothing">${sought ? "None of these is asked." : "Nothing is asked: the model can only guess, and so can an attacker. Choose “Groups” on a card to ask."}</p>`}<${Cards} shown=${order.slice(0, asked)} />
    ${asked < order.length && html`<h2 class="part">Not asked <span>${order.length - asked}</span></h2><${Cards} shown=${order.slice(asked)} />`}`;
}

/** Which colour is which class of the label. */
function Classes() {
  const label = room.value?.label;
  return html`<p class="classes"><span>${label?.name}:</span> ${label?.classes.map((name, c) => html`<span key=${name}><i class=${`k class${Math.min(c, 3)}`}></i>${name}</span>`)}</p>`;
}

/** How many columns of cards there is room for. Each card keeps its column, so that nothing jumps while it is edited. */
function useColumns() {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [columns, setColumns] = useState(1);
  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const watcher = new ResizeObserver(() => setColumns(Math.max(1, Math.floor((box.clientWidth + 18) / (box.clientWidth > 1500 ? 600 : 430)))));
    watcher.observe(box);
    return () => watcher.disconnect();
  }, []);
  return { place, columns };
}

/** @param {{shown: {question: import("./types.js").Question, card: import("./types.js").Card}[]}} props */
function Cards({ shown }) {
  const { place, columns } = useColumns();
  const stacks = Array.from({ length: columns }, (_, c) => shown.filter((__, i) => i % columns === c));
  return html`<div class="cards" ref=${place}>${stacks.map((stack, c) => html`<div key=${c} class="stack">${stack.map((each) => html`<${QuestionCard} key=${each.question.name} ...${each} />`)}</div>`)}</div>`;
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (typing || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
  event.preventDefault();
  void commit({ do: event.shiftKey ? "redo" : "undo" }, event.shiftKey ? "Redone." : "Undone.");
}

function Studio() {
  useEffect(() => {
    void open().then(() => room.value?.tour && welcome());
    document.addEventListener("keydown", pressed);
  }, []);
  useEffect(() => document.querySelector("aside")?.scrollTo(0, 0), [view.value]);  // each view begins with the figures
  if (!room.value || !now.value) return html`<p class="opening">${problem.value || "Opening the studio …"}</p>`;
  return html`<a class="skip" href="#main">Skip to the questions</a><${Bar} />
    <div class=${`page ${view.value} ${preview.value ? "previewing" : ""}`}>
      <main id="main">${room.value.going && html`<p class="going" role="status">${room.value.going}</p>`}${now.value.breaches.length > 0 && html`<p class="going broken" role="status"><b>The policy is not kept.</b> ${now.value.breaches.slice(0, 5).join("; ")}${now.value.breaches.length > 5 ? ` and ${now.value.breaches.length - 5} more` : ""}.</p>`}${view.value === "draw" ? html`<${Draw} />` : view.value === "compare" ? html`<${Shelf} />` : html`<${Decide} />`}</main>
      <aside aria-label="Figures"><${FiguresPanel} />${view.value !== "decide" && html`<${Help} />`}<${Looking} /><${Acts} /></aside></div><${Tour} />
    <p class=${`foot ${problem.value ? "problem" : ""} ${problem.value || message.value ? "on" : ""}`} role=${problem.value ? "alert" : "status"}>${problem.value || message.value}${busy.value ? html`<span class="busy" aria-hidden="true"></span>` : ""}</p>`;
}

const place = document.getElementById("studio");
if (place) {
  place.textContent = "";
  render(html`<${Studio} />`, place);
}
