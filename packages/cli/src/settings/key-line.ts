import { parse } from 'smol-toml';

/** Files longer than this are not searched: each line costs a parse of what is above it. */
const MAX_LINES = 500;

/**
 * The line, from 1, on which the value of a key is set, or the deepest of the tables around it that the file names.
 * `undefined` if the file names none of them. `text` must be valid TOML.
 *
 * The file is read line by line until the key is there: the line after the last beginning of the file that is complete and
 * does not have it yet is where it starts. So nothing of the syntax has to be known here.
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

/** How many steps of the path are there; `undefined` while the text ends in the middle of a value. */
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
