import { parse } from 'yaml';

/**
 * Converts YAML without aliases to JSON; `undefined` if it is invalid or a scalar. In a separate module, since the YAML library is slow to
 * load.
 */
export function yamlAsJson(text: string): string | undefined {
  try {
    const value: unknown = parse(text, { maxAliasCount: 0 });
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}
