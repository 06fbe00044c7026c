import { PodwrightError } from '@podwright/base';
import { type Explanation, VIEWED, why } from '@podwright/kube-view';
import type { JsonCalls } from '../upstream/json-calls.ts';
import { ApiReader } from './api-reader.ts';

/** Kinds that explanations read but do not begin with. */
const PARTS = ['nodes', 'claims', 'endpointSlices'];
const EXPLAINED = Object.entries(VIEWED).flatMap(([name, resource]) => (PARTS.includes(name) ? [] : [resource]));

/**
 * Explains why an object is or is not ready, as `podwright why` does. `kind` is a plural. Rejects with `invalid_argument` for other kinds,
 * and with `not_found` without the object.
 */
export async function explain(
  calls: JsonCalls,
  { kind, namespace, name }: { kind: string; namespace: string; name: string },
  signal: AbortSignal,
): Promise<Explanation> {
  const resource = EXPLAINED.find(({ plural }) => plural === kind);
  if (resource === undefined)
    throw new PodwrightError('invalid_argument', `kind: one of ${EXPLAINED.map(({ plural }) => plural).join(', ')}`);
  if (namespace === '' || name === '') throw new PodwrightError('invalid_argument', 'namespace and name are required');
  const reader = new ApiReader(calls, signal);
  const object = await reader.get(resource, namespace, name);
  if (object === undefined)
    throw new PodwrightError('not_found', `${kind} "${name}" not found in the namespace "${namespace}"`);
  return await why(reader, resource, object);
}
