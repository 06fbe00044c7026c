import { parse } from 'smol-toml';

/** Maximum number of lines to search, because the search reparses the file for every line. */
const MAX_LINES = 500;

/**
 * Returns the 1-based number of the line that sets a key. If the key is not set, returns the line of the innermost existing table on its
 * path, or `undefined` if there is none. `text` must be valid TOML.
 *
 * The search parses increasingly long prefixes of the file until one contains the key. The key then starts on the line after the longest
 * valid prefix without it. This way, the function needs no knowledge of TOML syntax.
 */
export function lineOfKey(text: string, path: readonly PropertyKey[]): number | undefined {
  const lines = text.split('\n');
  if (lines.length > MAX_LINES) return undefined;
  let deepest = 0;
  let found: number | undefined;
  let complete = 0;
  for (let count = 1; count <= lines.length && deepest < path.length; count++) {
    const depth = depthIn(lines.slice(0, count).join('\n'), path);
    if (depth === undefined) continue;
    if (depth > deepest) {
      deepest = depth;
      found = complete + 1;
    }
    complete = count;
  }
  return found;
}

/** Returns how many elements of a key's path exist in this TOML text, or `undefined` if the text ends in the middle of a value. */
function depthIn(text: string, path: readonly PropertyKey[]): number | undefined {
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    return undefined;
  }
  for (const [depth, key] of path.entries()) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return depth;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return path.length;
}
