import { isDeepStrictEqual } from 'node:util';

/**
 * Returns the path of the first difference between two plain values, such as `ports.0.port`; '' if the values themselves differ,
 * `undefined` if they are equal. As in JSON, an `undefined` property equals an absent one.
 */
export function firstDifference(one: unknown, other: unknown): string | undefined {
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other))
    return isDeepStrictEqual(one, other) ? undefined : '';
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const below = firstDifference(one[key], other[key]);
    if (below !== undefined) return below === '' ? key : `${key}.${below}`;
  }
  return undefined;
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
