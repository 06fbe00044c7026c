import { PodwrightError } from '@podwright/base';
import { ApiViewReader, EXPLAINED, type Explanation, why } from '@podwright/kube-view';
import type { JsonCalls } from '../upstream/json-calls.ts';

/**
 * Explains why an object is ready or not, like `podwright why`. `kind` is a plural, such as `pods`. Rejects with `invalid_argument` for
 * unsupported kinds, and with `not_found` if the object does not exist.
 */
export async function explain(
  calls: JsonCalls,
  { kind, namespace, name }: { kind: string; namespace: string; name: string },
  signal: AbortSignal,
): Promise<Explanation> {
  const resource = EXPLAINED.find(({ plural }) => plural === kind);
  if (resource === undefined)
    throw new PodwrightError(
      'invalid_argument',
      `kind: must be one of ${EXPLAINED.map(({ plural }) => plural).join(', ')}`,
    );
  if (namespace === '' || name === '') throw new PodwrightError('invalid_argument', 'namespace and name are required');
  const reader = new ApiViewReader({
    json: (path) => calls.get(path, signal),
    text: (path) => calls.text(path, signal),
  });
  const object = await reader.get(resource, namespace, name);
  if (object === undefined)
    throw new PodwrightError('not_found', `${kind} "${name}" not found in the namespace "${namespace}"`);
  return await why(reader, resource, object);
}
