import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@podwright/base';

type Fields = Record<string, unknown>;

/**
 * Returns the JSON merge patch (RFC 7396) that turns one object into another, or undefined if they are equal. A list that differs is
 * included as a whole. A null field in `after` counts as absent, as in the Kubernetes API.
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

/** Returns the value of a field in the patch: null removes the field, and undefined leaves it unchanged. */
function changeOf(before: unknown, after: unknown): unknown {
  if (after === undefined) return before === undefined ? undefined : null;
  if (isRecord(before) && isRecord(after)) return mergePatchBetween(before, after);
  return isDeepStrictEqual(before, after) ? undefined : after;
}
