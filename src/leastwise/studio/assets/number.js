// A question about a number: how people are spread, and edges that are dragged, or moved by keys.
import { useEffect, useRef, useState } from "preact/hooks";
import { between, html } from "./html.js";
import { edit, look, lookAway } from "./state.js";

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Card} Card */
/** @typedef {{edge: number, to: number} | null} Dragged */

const HEIGHT = 148, TOP = 24, BASE = 130, ROOM = 40, CROWDED = 0.6;

/** @param {Question} question @param {number} WIDTH */
function scale(question, WIDTH) {
  const ends = question.ends ?? [0, 1], marks = [ends[0], ...(question.grid ?? []), ends[1]], slots = marks.length - 1;
  const slot = (/** @type {number} */ at) => between(marks.findIndex((each) => each > at) - 1, 0, slots - 1);
  return {
    x: (/** @type {number} */ at) => {
      const i = at >= ends[1] ? slots - 1 : slot(at);
      return between(((i + (at - marks[i]) / (marks[i + 1] - marks[i])) / slots) * WIDTH, 0, WIDTH);
    },
    at: (/** @type {number} */ x) => {
      const i = between(Math.floor((x / WIDTH) * slots), 0, slots - 1);
      return marks[i] + ((x / WIDTH) * slots - i) * (marks[i + 1] - marks[i]);
    },
    /** How far apart the round numbers are around here. @param {number} at */
    step: (at) => marks[slot(at) + 1] - marks[slot(at)],
  };
}

/**
 * Where an edge snaps to: the round grid, or a tenth of it with Shift. Of whole numbers the answer *above* is round.
 * @param {number} value @param {Question} question @param {number} around @param {boolean} fine
 */
function snapped(value, question, around, fine) {
  const whole = question.integer ? 1 : 0;
  const wide = around * (fine ? 0.1 : 0.5);
  const step = question.integer ? Math.max(1, Math.round(wide)) : wide;
  return Number((Math.round((value + whole) / step) * step - whole).toPrecision(12));
}

/** @param {{question: Question, card: Card, kept: Card}} props */
export function NumberPicture({ question, card, kept }) {
  const place = useRef(/** @type {SVGSVGElement | null} */ (null));
  const [dragged, setDragged] = useState(/** @type {Dragged} */ (null));
  // Where the handle is now: events may come faster than pictures, and each must know what the one before did.
  const held = useRef(/** @type {Dragged} */ (null));
  const [WIDTH, setWidth] = useState(560);
  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const watcher = new ResizeObserver(() => setWidth(Math.max(240, box.clientWidth)));
    watcher.observe(box);
    return () => watcher.disconnect();
  }, []);
  const { x, at, step } = scale(question, WIDTH);
  const grid = question.grid ?? [], ends = question.ends ?? [0, 1];
  const bars = question.shares.slice(0, grid.length + 1);
  const most = Math.max(...bars.map((each) => each.reduce((a, b) => a + b, 0)), 1e-9);
  // Where one step holds most people, the others would not be seen beside it: heights are then square roots.
  const roots = most > CROWDED;
  const edges = card.edges ?? [];
  const limits = (/** @type {number} */ i) => [edges[i - 1]?.at ?? -Infinity, edges[i + 1]?.at ?? Infinity];

  /** @param {Dragged} next */
  function hold(next) {
    held.current = next;
    setDragged(next);
  }

  /** @param {PointerEvent} event @param {number} i */
  function moved(event, i) {
    const box = place.current?.getBoundingClientRect();
    if (!box) return;
    const raw = at(((event.clientX - box.left) / box.width) * WIDTH);
    const value = snapped(raw, question, step(raw), event.shiftKey);
    const [low, high] = limits(i);
    if (value <= low || value >= high || value === held.current?.to) return;
    hold({ edge: i, to: value });
    void look({ kind: "move_edge", attribute: question.name, edge: i, to: value });
  }

  function dropped() {
    const last = held.current;
    if (last && last.to !== kept.edges?.[last.edge]?.at) {
      void edit({ kind: "move_edge", attribute: question.name, edge: last.edge, to: last.to }, `${question.name}: the edge is at ${last.to}`);
    } else lookAway();
    hold(null);
  }

  /** @param {KeyboardEvent} event @param {number} i */
  function pressed(event, i) {
    const around = step(edges[i].at) / 2;
    const by = (question.integer ? Math.max(1, Math.round(around)) : around) * (event.shiftKey ? 5 : 1);
    const moves = { ArrowLeft: -by, ArrowDown: -by, ArrowRight: by, ArrowUp: by };
    if (event.key in moves) {
      event.preventDefault();
      const to = edges[i].at + moves[/** @type {keyof typeof moves} */ (event.key)];
      void edit({ kind: "move_edge", attribute: question.name, edge: i, to }, `${question.name}: the edge is at ${to}`);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      void edit({ kind: "merge", attribute: question.name, first: i, second: i + 1 }, `${question.name}: merged`);
    } else if (event.key.toLowerCase() === "l") {
      void edit({ kind: edges[i].locked ? "unlock" : "lock", attribute: question.name, what: "edge", value: edges[i].text });
    }
  }

  const starts = [ends[0], ...edges.map((each, i) => (dragged?.edge === i ? dragged.to : each.at)), ends[1]];
  const off = card.asked === "dropped";
  // Where there is no room for a text beside the last one, it is shown when its edge is pointed at.
  let last = -Infinity;
  const crowded = edges.map((_, i) => {
    const px = x(starts[i + 1]), close = px - last < ROOM;
    if (!close) last = px;
    return close;
  });
  return html`<div class=${`picture ${off ? "off" : ""}`}>
    <svg ref=${place} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} class="histogram" aria-label=${`How people are spread over ${question.name}`} role="group">
      ${!off && edges.length > 0 && starts.slice(0, -1).map((from, i) => html`<rect key=${`band ${i}`} class=${`band ${i % 2 ? "odd" : "even"}`} x=${x(from)} y=${TOP} width=${Math.max(0, x(starts[i + 1]) - x(from))} height=${BASE - TOP} />`)}
      ${bars.map((each, i) => {
        const from = i === 0 ? ends[0] : grid[i - 1], to = i < grid.length ? grid[i] : ends[1];
        let base = BASE;
        const all = each.reduce((a, b) => a + b, 0), tall = (roots ? Math.sqrt(all / most) : all / most) * (BASE - TOP - 6);
        return each.map((share, c) => {
          const height = all ? (share / all) * tall : 0;
          base -= height;
          return html`<rect key=${`${i} ${c}`} class=${`people class${Math.min(c, 3)}`} x=${x(from) + 0.6} width=${Math.max(0.5, x(to) - x(from) - 1.2)} y=${base} height=${height} />`;
        });
      })}
      <line class="axis" x1="0" x2=${WIDTH} y1=${BASE} y2=${BASE} />
      <text class="tick" x="0" y=${HEIGHT - 3}>${label(ends[0])}</text><text class="tick" x=${WIDTH} y=${HEIGHT - 3} text-anchor="end">${label(ends[1])} and beyond${roots ? " (heights: square roots)" : ""}</text>
      ${!off && edges.map((each, i) => {
        const value = dragged?.edge === i ? dragged.to : each.at, px = x(value);
        return html`<g key=${`edge ${i}`} class=${`edge ${each.locked ? "locked" : ""} ${crowded[i] ? "crowded" : ""} ${dragged?.edge === i ? "dragged" : ""}`} role="slider" tabindex="0"
          aria-label=${`Edge of ${question.name}${each.locked ? ", locked" : ""}`} aria-valuenow=${value} aria-valuemin=${ends[0]} aria-valuemax=${ends[1]} aria-valuetext=${String(value)}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => pressed(event, i)}
          onPointerDown=${(/** @type {PointerEvent} */ event) => { /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId); if (!each.locked) hold({ edge: i, to: each.at }); }}
          onPointerMove=${(/** @type {PointerEvent} */ event) => held.current?.edge === i && moved(event, i)}
          onPointerUp=${dropped} onPointerCancel=${() => { hold(null); lookAway(); }}>
          <rect class="touch" x=${px - 14} y="0" width="28" height=${BASE} /><line x1=${px} x2=${px} y1=${TOP - 6} y2=${BASE} />
          <rect class="knob" x=${px - 5} y=${(TOP + BASE) / 2 - 12} width="10" height="24" rx="5" />
          <text x=${between(px, 12, WIDTH - 12)} y="12" text-anchor="middle">${label(value)}${each.locked ? " 🔒" : ""}</text></g>`;
      })}
    </svg></div>`;
}

/** @param {number} value */
function label(value) {
  return Math.abs(value) >= 10000 ? value.toLocaleString("en") : String(Number(value.toPrecision(6)));
}
