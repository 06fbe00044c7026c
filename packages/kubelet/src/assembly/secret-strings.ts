import { PodwrightError } from '@podwright/base';
import type { ObjectLookup } from '@podwright/kube-api';

/** The data of a Secret of the node, as text. Throws `not_found` with the message of an API server. */
export function secretStrings(
  objects: ObjectLookup,
  { namespace, name }: { namespace: string; name: string },
): Record<string, string> {
  const secret = objects.get('Secret', namespace, name);
  if (secret === undefined) throw new PodwrightError('not_found', `secrets "${name}" not found`);
  const decoded = Object.entries(secret.data ?? {}).map(([key, data]) => [key, Buffer.from(data, 'base64').toString()]);
  return { ...Object.fromEntries(decoded), ...secret.stringData };
}
