import type { ConfigMap, RuntimeClass, Secret } from '../types.ts';
import { resourceList } from './container-schema.ts';
import { boolean, type Decoder, list, mapOf, object, oneOf, string } from './decoder.ts';
import { objectMeta } from './metadata-schema.ts';
import { toleration } from './pod-schema.ts';

/** v1 ConfigMap. */
export const configMap: Decoder<ConfigMap> = object<ConfigMap>(
  {
    apiVersion: oneOf('v1'),
    kind: oneOf('ConfigMap'),
    metadata: objectMeta,
    data: mapOf(string),
    binaryData: mapOf(string),
    immutable: boolean,
  },
  { required: ['metadata'] },
);

/** v1 Secret. */
export const secret: Decoder<Secret> = object<Secret>(
  {
    apiVersion: oneOf('v1'),
    kind: oneOf('Secret'),
    metadata: objectMeta,
    type: string,
    data: mapOf(string),
    stringData: mapOf(string),
    immutable: boolean,
  },
  { required: ['metadata'] },
);

type Overhead = NonNullable<RuntimeClass['overhead']>;
type Scheduling = NonNullable<RuntimeClass['scheduling']>;

/** node.k8s.io/v1 RuntimeClass. */
export const runtimeClass: Decoder<RuntimeClass> = object<RuntimeClass>(
  {
    apiVersion: oneOf('node.k8s.io/v1'),
    kind: oneOf('RuntimeClass'),
    metadata: objectMeta,
    handler: string,
    overhead: object<Overhead>({ podFixed: resourceList }),
    scheduling: object<Scheduling>({ nodeSelector: mapOf(string), tolerations: list(toleration) }),
  },
  { required: ['metadata', 'handler'] },
);
