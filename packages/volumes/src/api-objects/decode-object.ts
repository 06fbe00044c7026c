import { PodwrightError } from '@podwright/base';
import type { ConfigMap, KubeObject, Secret } from '@podwright/kube-api';

/**
 * Decodes a ConfigMap or Secret from the API server. Null fields are treated as absent. Throws `invalid_argument` if its data is malformed.
 */
export function decodeObject<K extends 'ConfigMap' | 'Secret'>(
  kind: K,
  object: KubeObject,
): Extract<ConfigMap | Secret, { kind: K }> {
  const { namespace = '', name = '', uid = '' } = object.metadata;
  const { data, binaryData, ...rest } = object as KubeObject & Record<string, unknown>;
  const decoded = {
    ...rest,
    ...texts('data', data),
    ...texts('binaryData', binaryData),
    apiVersion: 'v1',
    kind,
    metadata: { ...object.metadata, namespace, name, uid },
  };
  return decoded as Extract<ConfigMap | Secret, { kind: K }>;

  function texts(field: string, value: unknown): Record<string, unknown> {
    if (value === undefined || value === null) return {};
    const isMap = typeof value === 'object' && Object.values(value).every((text) => typeof text === 'string');
    if (isMap && !Array.isArray(value)) return { [field]: value };
    throw new PodwrightError(
      'invalid_argument',
      `the API server's ${kind} ${namespace}/${name} is malformed: ${field} is not a map of strings`,
    );
  }
}
