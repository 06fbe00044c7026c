import { badRequest, DecodeError, invalid, namedKind } from '@podwright/api-machinery';
import { invalidValue } from '@podwright/kube-kinds';
import { apiVersionOf, type GroupVersionKind, type JsonObject } from '@podwright/kube-schema';

/** Returns the kind that a body for a custom resource declares. Unlike in `namedKind`, it must be the expected one. */
export function customKind(value: unknown, expected: GroupVersionKind): GroupVersionKind {
  const named = namedKind(value, expected);
  const { apiVersion = '', kind = '', metadata } = (value ?? {}) as JsonObject & { metadata?: { name?: unknown } };
  if (kind === '') throw new DecodeError(`Object 'Kind' is missing in '${JSON.stringify(value)}'`, expected);
  const served = apiVersionOf(expected);
  if (apiVersion !== served)
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${served})`);
  if (kind === expected.kind) return named;
  const problem = invalidValue('kind', kind, `must be ${expected.kind}`);
  throw invalid({ group: expected.group, kind: named.kind }, String(metadata?.name ?? ''), [problem]);
}
