export function useState<T>(start: T | (() => T)): [T, (next: T) => void];
export function useRef<T>(start: T): { current: T };
export function useEffect(work: () => void | (() => void), on?: unknown[]): void;
