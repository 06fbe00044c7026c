import { parse } from 'yaml';

/**
 * Converts YAML without aliases to JSON. Returns `undefined` if it is invalid or a scalar. This is a separate module because the YAML
 * library is slow to load.
 */
export function yamlAsJson(text: string): string | undefined {
  try {
    const value: unknown = parse(text, { maxAliasCount: 0 });
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}
