declare const htm: { bind(h: unknown): (texts: TemplateStringsArray, ...values: unknown[]) => any };
export default htm;
