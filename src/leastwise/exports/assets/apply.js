// What leastwise does to one record, in JavaScript: no dependencies, nothing leaves this function but buckets.
// Values are compared as Python does it; tests/conformance/apply.json holds both to the same answers.

class UnknownValueError extends Error {
  constructor(attribute, hint) {
    // The value itself is left out: a message may be logged.
    super(`${attribute}: the value is not in the declared domain; ${hint}`);
    this.name = "UnknownValueError";
    this.attribute = attribute;
  }
}

const MISSING_LABEL = "missing";
const CODE_NUMBER = /^{CODE_NUMBER}$/;
const ANY_NUMBER = /^{ANY_NUMBER}$/;
const LONG_INTEGER = /^[+-]?[1-9][0-9]{15,308}$/;
const WORD_NUMBER = /^[+-]?(?:inf|infinity|nan)$/i;
const BLANKS = /^[ \t\n\r\v\f]+|[ \t\n\r\v\f]+$/g;

function isMissing(value) {
  return value === null || value === undefined || value === "" || Number.isNaN(value);
}

// The shortest text that reads back the same, written as Python writes it: 63, 0.1, 1e+16, 1e-07, inf.
function numberText(number) {
  if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
  if (Number.isInteger(number) && Math.abs(number) < 1e16) return String(number === 0 ? 0 : number);
  const [digits, exponent] = number.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 16) return String(number);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function wordNumber(text) {
  if (!WORD_NUMBER.test(text)) return undefined;
  if (text.toLowerCase().includes("nan")) return NaN;
  return text.startsWith("-") ? -Infinity : Infinity;
}

// The number that a text spells among declared values, where "01" is a code, and so are digits that no double holds.
function codeNumber(text) {
  if (CODE_NUMBER.test(text)) return Number(text);
  if (!LONG_INTEGER.test(text) || !Number.isFinite(Number(text))) return undefined;
  return BigInt(text.replace("+", "")) === BigInt(Number(text)) ? Number(text) : undefined;
}

// The one text of a value, null for a missing one: 1, "1.0" and "1e0" are "1", and "TRUE" is "true".
function textOf(value) {
  if (isMissing(value)) return null;
  if (typeof value === "number") return numberText(value);
  const text = String(value);
  const number = codeNumber(text) ?? wordNumber(text);
  if (number !== undefined) return Number.isNaN(number) ? null : numberText(number);
  return /^(?:true|false)$/i.test(text) ? text.toLowerCase() : text;
}

// A raw value as a number where one is asked; NaN for a missing one, undefined when it is no number.
function numberOf(value) {
  if (isMissing(value)) return NaN;
  if (typeof value === "number") return value;
  if (typeof value !== "string") return undefined;
  const text = value.replace(BLANKS, "");
  return ANY_NUMBER.test(text) ? Number(text) : wordNumber(text);
}

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

function weekday(year, month, day) {
  const late = Math.floor((14 - month) / 12); // January and February count to the year before
  const years = year - late;
  const centuries = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return WEEKDAYS[(day + Math.floor((13 * (month + 12 * late + 1)) / 5) + years + centuries + 5) % 7];
}

function datePart(rule, text) {
  const number = Object.fromEntries(
    Object.entries(rule.places).map(([field, [begin, length]]) => [field, Number(text.slice(begin, begin + length))]),
  );
  const { YYYY: year, MM: month, DD: day, hh: hour, mm: minute } = number;
  const made = {
    year: () => year,
    decade: () => Math.floor(year / 10) * 10,
    month: () => month,
    quarter: () => Math.floor((month + 2) / 3),
    hour: () => hour,
    minutes: () => 60 * hour + minute,
    age: () => Math.floor((rule.reference - 10000 * year - 100 * month - day) / 10000),
    weekday: () => weekday(year, month, day),
  };
  return String(made[rule.part]());
}

function cellOf({ most, degrees, perDegree, refused }, number) {
  if (!(Math.abs(number) <= most)) return refused;
  return textOf((Math.floor(Math.floor(number * perDegree) / degrees) * degrees) / perDegree);
}

// What a rule makes of a raw value: a text, or null for no answer; a text of another form becomes "not ...".
function regionOf(rule, value, beside) {
  if (isMissing(value) || isMissing(beside)) return null;
  const [lat, lon] = [value, beside].map((each) => {
    const text = typeof each === "string" ? each : textOf(each);
    return new RegExp(rule.pattern, "u").test(text) ? Number(text) : NaN;
  });
  const inside = rule.boxes.find(([, s, w, n, e]) => lat >= s && lat <= n && lon >= w && lon <= e);
  return inside ? inside[0] : rule.refused;
}

function derived(rule, value, record) {
  if (rule.boxes) return regionOf(rule, value, record[rule.beside]);
  if (isMissing(value)) return null;
  const raw = value instanceof Date ? value.toISOString() : value;
  const text = typeof raw === "string" ? raw : textOf(raw);
  if (rule.length) return Array.from(text).slice(0, rule.length).join("");
  if (!new RegExp(rule.pattern, "u").test(text)) return rule.refused;
  if (rule.part) return datePart(rule, text);
  if (rule.perDegree) return cellOf(rule, Number(text));
  if (rule.classes) return rule.classes[Number(Number(text) > rule.threshold)];
  const bare = rule.removed.reduce((left, sign) => left.replaceAll(sign, ""), text);
  return rule.decimal ? bare.replaceAll(rule.decimal, ".") : bare;
}

const places = new WeakMap(); // of the texts among the declared values, for each attribute

function placeOf(attribute, text) {
  const known = places.get(attribute) ?? new Map(attribute.values.map((value, place) => [textOf(value), place]));
  places.set(attribute, known);
  return known.get(text);
}

function contains(attribute, number) {
  const above = attribute.lower === null || number >= attribute.lower;
  const below = attribute.upper === null || number <= attribute.upper;
  return above && below && (!attribute.integer || Math.floor(number) === number);
}

function domainHint(attribute) {
  if (attribute.values) return `it has ${attribute.values.length} values`;
  const low = attribute.lower === null ? "" : ` from ${numberText(attribute.lower)}`;
  const high = attribute.upper === null ? "" : ` to ${numberText(attribute.upper)}`;
  return `it must be one of the ${attribute.integer ? "whole " : ""}numbers${low}${high}`;
}

// The piece of a raw value (an interval or a declared value, then "missing" and "other"); undefined: unknown.
function knownPiece(attribute, value) {
  const extras = Number(attribute.missing) + Number(attribute.other);
  const missing = attribute.missing ? attribute.assignment.length - extras : undefined;
  if (attribute.edges) {
    const number = numberOf(value);
    if (Number.isNaN(number)) return missing;
    if (number === undefined || !contains(attribute, number)) return undefined;
    return attribute.edges.filter((edge) => number > edge).length; // an edge belongs to the left
  }
  const text = textOf(value);
  return text === null ? missing : placeOf(attribute, text);
}

function bucketOf(attribute, value, unknown) {
  const piece = knownPiece(attribute, value);
  if (piece !== undefined) return attribute.assignment[piece];
  if (unknown === "other" && attribute.other) return attribute.assignment[attribute.assignment.length - 1];
  throw new UnknownValueError(attribute.name, isMissing(value) ? "it is missing" : domainHint(attribute));
}

function untouchedAnswer(attribute, value, output) {
  const number = numberOf(value);
  const missing = Number.isNaN(number);
  if (number === undefined || (missing ? !attribute.missing : !contains(attribute, number))) {
    throw new UnknownValueError(attribute.name, missing ? "it is missing" : domainHint(attribute));
  }
  if (output === "labels") return missing ? MISSING_LABEL : numberText(number);
  return missing ? null : number;
}

function answer(attribute, value, output = "labels", unknown = "other") {
  if (attribute.untouched) return untouchedAnswer(attribute, value, output);
  const bucket = bucketOf(attribute, value, unknown);
  return output === "labels" ? attribute.labels[bucket] : bucket;
}

function checkLabel(label, value) {
  const number = label.values ? NaN : numberOf(value); // a label without classes is a number
  if (number === undefined || (!Number.isNaN(number) && !contains(label, number))) {
    throw new UnknownValueError(label.name, domainHint(label));
  }
  const text = label.values ? textOf(value) : null;
  if (text !== null && placeOf(label, text) === undefined) throw new UnknownValueError(label.name, domainHint(label));
}

// Make the function that generalizes one record of a plan: {labels, attributes} without what is suppressed.
function generalizer(plan) {
  return function generalize(record, { output = "labels", unknown = "other" } = {}) {
    if (!["labels", "codes"].includes(output)) throw new RangeError("output must be labels or codes");
    if (!["error", "other"].includes(unknown)) throw new RangeError("unknown must be error or other");
    const result = [];
    for (const label of plan.labels) {
      const column = label.column ?? label.name;
      if (!Object.hasOwn(record, column)) continue;
      const value = label.derive ? derived(label.derive, record[column], record) : record[column];
      checkLabel(label, value);
      result.push([label.name, value]);
    }
    for (const attribute of plan.attributes) {
      const column = attribute.column ?? attribute.name;
      const beside = attribute.derive?.beside ?? column;
      if (!Object.hasOwn(record, column) || !Object.hasOwn(record, beside)) {
        throw new UnknownValueError(attribute.name, "the record has no such key");
      }
      const value = attribute.derive ? derived(attribute.derive, record[column], record) : record[column];
      result.push([attribute.name, answer(attribute, value, output, unknown)]);
    }
    return Object.fromEntries(result); // defines keys such as __proto__, rather than setting them
  };
}
