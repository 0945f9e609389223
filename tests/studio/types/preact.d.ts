export function h(type: unknown, props: unknown, ...children: unknown[]): object;
export function render(tree: unknown, place: Element): void;
