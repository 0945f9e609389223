// The map: what the run found, and where the draft is; it moves while one draws.
import { counted, html, percent } from "./html.js";
import { figures, loadCandidate, now, room } from "./state.js";

const WIDTH = 340, HEIGHT = 230, LEFT = 42, BOTTOM = 34, TOP = 24, RIGHT = 14;

/** @param {number[]} values @returns {[number, number]} */
function range(values) {
  const low = Math.min(...values), high = Math.max(...values), pad = Math.max((high - low) * 0.12, 0.004);
  return [Math.max(0, low - pad), high + pad];
}

/** @param {number} low @param {number} high */
function ticks(low, high) {
  const steps = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
  const step = steps.find((each) => (high - low) / each <= 5) ?? 0.5;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(at);
  return found;
}

/**
 * Those that no other candidate beats in both, from the most accurate to the safest: only they are joined.
 * @param {import("./types.js").Point[]} front
 */
export function unbeaten(front) {
  let safest = -1;
  return [...front].sort((a, b) => a.error - b.error || b.safety - a.safety).filter((each) => {
    const best = each.safety > safest;
    safest = Math.max(safest, each.safety);
    return best;
  });
}

export function FrontierMap() {
  const here = room.value, state = now.value, shown = figures.value;
  if (!here || !state || !shown) return null;
  const front = here.frontier;
  const marks = [...front.map((each) => [each.error, each.safety]), [shown.model.error, shown.mean.error]];
  const xs = range(marks.map((each) => each[0])), ys = range(marks.map((each) => each[1]));
  const x = (/** @type {number} */ at) => LEFT + ((at - xs[0]) / (xs[1] - xs[0])) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ at) => HEIGHT - BOTTOM - ((at - ys[0]) / (ys[1] - ys[0])) * (HEIGHT - BOTTOM - TOP);
  const line = unbeaten(front).map((each, i) => `${i ? "L" : "M"}${x(each.error)} ${y(each.safety)}`).join(" ");
  const limit = state.limits.max_error_increase == null ? null : here.before.model.error + state.limits.max_error_increase;
  return html`<section class="figure map" aria-label="Map of candidates"><header><h3>The map</h3><span class="stand">${front.length ? "click one to load it" : "the run is not there yet"}</span></header>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`}>
      ${limit != null && limit < xs[1] && html`<rect class="beyond" x=${Math.max(LEFT, x(limit))} y=${TOP} width=${WIDTH - RIGHT - Math.max(LEFT, x(limit))} height=${HEIGHT - BOTTOM - TOP} />`}
      ${ticks(...xs).map((at) => html`<g key=${at}><line class="grid" x1=${x(at)} x2=${x(at)} y1=${TOP} y2=${HEIGHT - BOTTOM} /><text class="tick" x=${x(at)} y=${HEIGHT - BOTTOM + 13} text-anchor="middle">${Math.round(1000 * at) / 10}</text></g>`)}
      ${ticks(...ys).map((at) => html`<g key=${at}><line class="grid" y1=${y(at)} y2=${y(at)} x1=${LEFT} x2=${WIDTH - RIGHT} /><text class="tick" x=${LEFT - 6} y=${y(at) + 3.5} text-anchor="end">${Math.round(1000 * at) / 10}</text></g>`)}
      <path class="frontier" d=${line} />
      <text class="axis" x=${WIDTH - RIGHT} y=${HEIGHT - 6} text-anchor="end">the model errs, % →</text>
      <text class="axis" x=${LEFT - 30} y="10">↑ an attacker errs, %</text>
      ${front.map((each) => html`<g key=${each.id} class=${each.chosen ? "candidate chosen" : each.nearest ? "candidate nearest" : "candidate"} role="button" tabindex="0"
          aria-label=${`Load candidate ${each.id}${each.name ? `, the ${each.name}` : ""}${each.nearest ? ", nearest, does not fit" : ""}: the model errs ${percent(each.error)}, an attacker ${percent(each.safety)}, ${counted(each.answers, "answer")}`}
          onClick=${() => loadCandidate(each.id)} onKeyDown=${(/** @type {KeyboardEvent} */ event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), loadCandidate(each.id))}>
          <circle class="touch" cx=${x(each.error)} cy=${y(each.safety)} r="13" /><circle class="dot" cx=${x(each.error)} cy=${y(each.safety)} r="5" /></g>`)}
      <g class="draft" aria-hidden="true"><circle class="halo" cx=${x(shown.model.error)} cy=${y(shown.mean.error)} r="11" /><circle cx=${x(shown.model.error)} cy=${y(shown.mean.error)} r="6" /></g>
    </svg>
    <p class="legend"><span><i class="k dot"></i>candidate</span><span><i class=${`k ${here.unchosen ? "nearest" : "chosen"}`}></i>${here.unchosen ? "nearest, does not fit" : "recommended"}</span><span><i class="k draft"></i>this draft</span></p></section>`;
}
