import { parse } from 'smol-toml';

/** Longer files are not searched, since the search parses the file up to each of its lines. */
const MAX_LINES = 500;

/**
 * Returns the line, from 1, on which a key is set, or else the line of the innermost table of its path that the file has. `undefined` if
 * the file has none of them. `text` must be valid TOML.
 *
 * The search parses ever longer starts of the file until one contains the key. The key starts on the line after the longest valid start
 * without it. So this function needs no knowledge of TOML's syntax.
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

/** Returns how many elements of the path exist in the text; `undefined` if the text ends inside a value. */
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
