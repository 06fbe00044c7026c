import { isDeepStrictEqual } from 'node:util';

type Fields = Record<string, unknown>;

/**
 * Returns the JSON merge patch (RFC 7396) that turns one object into another; undefined if they are equal. A list that differs is in the patch
 * as a whole. A field that is null in `after` counts as absent, as in the Kubernetes API.
 */
export function mergePatchBetween(before: object, after: object): object | undefined {
  const [old, wanted] = [before as Fields, after as Fields];
  const patch: [string, unknown][] = [];
  for (const name of new Set([...Object.keys(old), ...Object.keys(wanted)])) {
    const change = changeOf(old[name] ?? undefined, wanted[name] ?? undefined);
    if (change !== undefined) patch.push([name, change]);
  }
  return patch.length === 0 ? undefined : Object.fromEntries(patch);
}

/** Returns the value of a field in the patch: null removes it; undefined if the field stays. */
function changeOf(before: unknown, after: unknown): unknown {
  if (after === undefined) return before === undefined ? undefined : null;
  if (isFields(before) && isFields(after)) return mergePatchBetween(before, after);
  return isDeepStrictEqual(before, after) ? undefined : after;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
