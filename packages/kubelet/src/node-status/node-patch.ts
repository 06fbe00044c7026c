import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@podwright/base';
import type { Node, NodeCondition } from '@podwright/kube-api';

type Json = Record<string, unknown>;

/**
 * Builds the strategic merge patch from one Node object to another, without `spec`. It contains only the differences, with null for removed
 * keys. A changed condition is sent with only its type and its changed keys. Changed addresses are replaced as a whole, because merging
 * them by type would mix up several addresses of the same type.
 */
export function nodePatch(before: Node, after: Node): Json {
  const { addresses: from, conditions: known, ...others } = before.status ?? {};
  const { addresses: to, conditions: wanted, ...rest } = after.status ?? {};
  const metadata = difference(before.metadata, after.metadata);
  const status = {
    ...difference(others, rest),
    ...(isDeepStrictEqual(from, to) ? {} : { addresses: addressesPatch(from ?? [], to ?? []) }),
    ...conditionsPatch(known ?? [], wanted ?? []),
  };
  return { ...filled('metadata', metadata), ...filled('status', status) };
}

const filled = (key: string, patch: Json): Json => (Object.keys(patch).length === 0 ? {} : { [key]: patch });

/** Builds the JSON merge patch from one object to another: only the differences, with null for removed keys. */
export function difference(before: object, after: object): Json {
  const [old, wanted] = [before as Json, after as Json];
  const patch: Json = {};
  for (const key of Object.keys(old)) if (old[key] !== undefined && wanted[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined || isDeepStrictEqual(old[key], value)) continue;
    patch[key] = isRecord(old[key]) && isRecord(value) ? difference(old[key], value) : value;
  }
  return patch;
}

const addressesPatch = (before: readonly object[], after: readonly object[]): object[] =>
  before.length === 0 ? [...after] : [...after, { $patch: 'replace' }];

function conditionsPatch(before: NodeCondition[], after: NodeCondition[]): Json {
  const changed = after.flatMap((condition) => {
    const known = before.find(({ type }) => type === condition.type);
    if (known === undefined) return [condition];
    const patch = difference(known, condition);
    return Object.keys(patch).length === 0 ? [] : [{ ...patch, type: condition.type }];
  });
  if (changed.length === 0) return {};
  if (before.length === 0) return { conditions: changed };
  return { '$setElementOrder/conditions': after.map(({ type }) => ({ type })), conditions: changed };
}
