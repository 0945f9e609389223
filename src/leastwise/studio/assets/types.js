// What the studio's server answers. Types only; nothing here runs.

/** @typedef {{error: number, low: number, high: number, guessing: number}} Told */
/**
 * @typedef {object} Figures
 * @property {boolean} judged
 * @property {Told} model
 * @property {Told} mean
 * @property {Record<string, Told>} attributes
 * @property {number} alone
 * @property {number} people
 * @property {number} asked
 * @property {number} answers
 * @property {number | null} certified
 * @property {number} [looks]
 * @property {number} [paid]
 * @property {({name: string} & Told)[]} [attacks]
 */
/**
 * @typedef {object} Question
 * @property {string} name
 * @property {"continuous" | "ordinal" | "discrete"} kind
 * @property {boolean} personal
 * @property {string} domain
 * @property {boolean} [integer]
 * @property {string[]} [values]
 * @property {number[][]} shares
 * @property {number[]} [grid]
 * @property {[number, number]} [ends]
 * @property {number} [step]
 * @property {string[]} [extras]
 * @property {number} [levels]
 */
/** @typedef {{label: string, name: string, locked: boolean, few: boolean, share: number, classes: number[]}} Bucket */
/** @typedef {{at: number, text: string, locked: boolean}} Edge */
/**
 * @typedef {object} Card
 * @property {"dropped" | "full" | "buckets"} asked
 * @property {boolean} locked
 * @property {Bucket[]} buckets
 * @property {number[]} [assignment]
 * @property {Edge[]} [edges]
 */
/** @typedef {{id: string, name: string, words: string, chosen: boolean, nearest: boolean, error: number, safety: number, asked: number, answers: number}} Point */
/** @typedef {{max_error_increase: number | null, min_adversary_error: Record<string, number>, max_unique: number | null, max_buckets: number | null}} Limits */
/** @typedef {{attribute: string, before: string, after: string, labels: string[]}} Change */
/** @typedef {{words: string, generalization: object, figures: Figures, changed: Change[]}} Proposal */
/**
 * @typedef {object} Job
 * @property {number} id
 * @property {string} kind
 * @property {string} about
 * @property {"running" | "done" | "failed" | "cancelled"} state
 * @property {string} words
 * @property {number} done
 * @property {number} total
 * @property {any} result
 * @property {string} error
 */
/** @typedef {{id: number, name: string, comment: string, figures: Figures}} Kept */
/** @typedef {{rationale: Record<string, string>, open_points: string, author: string, reviewer: string, approver: string, because: string, although: string}} Words */
/**
 * @typedef {object} Room
 * @property {string} title
 * @property {string} folder
 * @property {{name: string, classes: string[]}} label
 * @property {Question[]} questions
 * @property {Figures} before
 * @property {Figures} nothing
 * @property {Figures | null} best
 * @property {Point[]} frontier
 * @property {string} unchosen
 * @property {{looked: number, sealed: number}} people
 * @property {number} tested
 * @property {boolean} tour
 * @property {string} going
 */
/**
 * @typedef {object} Now
 * @property {number} version
 * @property {Card[]} cards
 * @property {Figures} figures
 * @property {Figures | null} judged
 * @property {Figures | null} final
 * @property {{undo: string | null, redo: string | null, steps: number}} history
 * @property {Limits} limits
 * @property {string[]} breaches
 * @property {Kept[]} shelf
 * @property {number} looks
 * @property {string[]} opened
 * @property {Words} words
 * @property {Record<string, string>} proposed
 * @property {boolean} approved
 * @property {string} fingerprint
 * @property {Job | null} job
 */
/** @typedef {{loss: number, error: number, disclosed: number, own: number | null}} Worth */
/** @typedef {{fingerprint: string, worth: Record<string, Worth>, proposed: Record<string, string>, looks: number, figures: Figures}} Weighed */
/** @typedef {{kind: string, attribute: string, [more: string]: any}} Edit */
/** @typedef {{attribute: string, card: Card, figures: Figures}} Preview */
/** @typedef {{words: string, figures: Figures}} Way */

export {};
