import { parse } from 'smol-toml';

/** Maximum number of lines of a file that is searched, because the search parses the file once for every line. */
const MAX_LINES = 500;

/**
 * Returns the 1-based number of the line on which a key is set. If the key is not set, returns the line of the innermost table on its path
 * that exists, or `undefined` if none does. `text` must be valid TOML.
 *
 * The search parses longer and longer prefixes of the file until one contains the key. The key then starts on the line after the longest
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

/** Returns how many elements of the path exist in the text, or `undefined` if the text ends in the middle of a value. */
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
