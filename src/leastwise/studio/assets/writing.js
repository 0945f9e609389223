// A field that somebody writes in: what is being typed stays, whatever else arrives meanwhile, and is kept at each pause.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";

const PAUSE = 1200;

/**
 * @param {{value: string, write: (text: string) => unknown, rows?: number, patient?: boolean, [more: string]: any}} props
 * patient: nothing is kept before the field is left.
 */
export function Writing({ value, write, rows, patient, ...more }) {
  const [text, setText] = useState(value);
  const held = useRef({ typed: value, sent: /** @type {string | null} */ (value), timer: 0 });
  const own = held.current;
  useEffect(() => {
    if (own.typed !== own.sent) return;  // somebody is typing
    own.typed = own.sent = value;
    setText(value);
  }, [value]);
  function keep() {
    window.clearTimeout(own.timer);
    if (own.typed === own.sent) return;
    own.sent = own.typed;
    const again = (/** @type {any} */ kept) => { if (kept === false) own.sent = null; };
    void Promise.resolve(write(own.typed)).then(again);
  }
  function typed(/** @type {any} */ event) {
    own.typed = event.target.value;
    setText(own.typed);
    window.clearTimeout(own.timer);
    if (!patient) own.timer = window.setTimeout(keep, PAUSE);
  }
  const given = { ...more, value: text, onInput: typed, onChange: keep };
  return rows ? html`<textarea rows=${rows} ...${given}></textarea>` : html`<input ...${given} />`;
}
