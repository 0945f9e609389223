export interface Signal<T> { value: T }
export function signal<T>(start: T): Signal<T>;
export function computed<T>(work: () => T): { readonly value: T };
export function batch(work: () => void): void;
