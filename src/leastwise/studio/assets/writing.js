// A field that somebody writes in: what is being typed stays, whatever else arrives meanwhile.
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";

/**
 * @param {{value: string, write: (text: string) => unknown, rows?: number, [more: string]: any}} props
 */
export function Writing({ value, write, rows, ...more }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const given = {
    ...more,
    value: text,
    onInput: (/** @type {any} */ event) => setText(event.target.value),
    onChange: (/** @type {any} */ event) => write(event.target.value),
  };
  return rows ? html`<textarea rows=${rows} ...${given}></textarea>` : html`<input ...${given} />`;
}
