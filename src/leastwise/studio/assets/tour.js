// A short tour: five stops, each beside what it tells of.
import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import { html } from "./html.js";

const SEEN = "leastwise-studio-tour";
const STOPS = [
  ["One card a question", "Each card shows how people are spread over an attribute, by class of the label. The buckets drawn on it are the answers that are asked.", ".card"],
  ["Draw", "Drag an edge, click between two buckets to merge them, drag values from group to group. Every handle can be reached by Tab and moved by arrow keys. Ctrl+Z takes anything back.", ".card"],
  ["See what it costs and tells", "How often the model errs, and how often an attacker does who steals the answers. The line is everything asked, the diamond the best that was found.", "aside"],
  ["Let the machine help", "Lock what must stay, then improve the rest. Nothing is taken before you have looked at it. Judging takes the strongest attackers there are.", ".acts"],
  ["Decide", "Write down why, open the sealed test part once, and sign. The file that comes out is what leastwise collects with.", ".views"],
];

/** Where the tour is; -1: nowhere. */
const stop = signal(-1);

/** Begin the tour where it was not seen before. */
export function welcome() {
  if (!localStorage.getItem(SEEN)) stop.value = 0;
}

function end() {
  localStorage.setItem(SEEN, "yes");
  stop.value = -1;
}

export function TourButton() {
  return html`<button class="plain" onClick=${() => (stop.value < 0 ? (stop.value = 0) : end())}>Tour</button>`;
}

export function Tour() {
  const at = stop.value, [title, text, where] = STOPS[Math.max(0, at)];
  useEffect(() => {
    const place = at >= 0 ? document.querySelector(where) : null;
    place?.classList.add("toured");
    place?.scrollIntoView({ block: "nearest" });
    return () => place?.classList.remove("toured");
  }, [at]);
  if (at < 0) return null;
  return html`<div class="tour" role="dialog" aria-label="Tour" onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Escape" && end()}>
    <p class="step">${at + 1} of ${STOPS.length}</p><h2>${title}</h2><p>${text}</p>
    <div class="buttons"><button class="plain" onClick=${end}>Skip</button>${at > 0 && html`<button onClick=${() => (stop.value = at - 1)}>Back</button>`}
      <button class="primary" autofocus onClick=${() => (at + 1 < STOPS.length ? (stop.value = at + 1) : end())}>${at + 1 < STOPS.length ? "Next" : "Begin"}</button></div></div>`;
}
