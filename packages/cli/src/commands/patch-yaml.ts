import { parse } from 'yaml';

/** What YAML without aliases says, as JSON; `undefined` if it is none, or only a text or number. Apart, as YAML takes long to load. */
export function yamlAsJson(text: string): string | undefined {
  try {
    const value: unknown = parse(text, { maxAliasCount: 0 });
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}
