import type { ConfigMap, PersistentVolumeClaim, RuntimeClass, Secret } from '../objects/types.ts';
import { resourceList } from './container-schema.ts';
import { anything, boolean, type Decoder, list, mapOf, object, oneOf, quantity, string } from './decoder.ts';
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

type ClaimSpec = PersistentVolumeClaim['spec'];
type ClaimResources = NonNullable<ClaimSpec['resources']>;

const storage = object<{ storage?: string }>({ storage: quantity });
const OF_A_CLUSTER =
  'needs a cluster, which binds claims to volumes; leave it out: on a standalone node a claim is a new directory';

const filesystem = oneOf('Filesystem');
const volumeMode: Decoder<NonNullable<ClaimSpec['volumeMode']>> = (value, issues) =>
  value === 'Block' && issues.acceptApiField() ? value : filesystem(value, issues);

const claimSpec = object<ClaimSpec>(
  {
    accessModes: list(oneOf('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod')),
    resources: object<ClaimResources>({ requests: storage, limits: storage }),
    storageClassName: string,
    volumeMode,
  },
  {
    needApi: Object.fromEntries(
      ['volumeName', 'selector', 'dataSource', 'dataSourceRef', 'volumeAttributesClassName'].map((field) => [
        field,
        OF_A_CLUSTER,
      ]),
    ),
  },
);

/** v1 PersistentVolumeClaim. `status` is not validated in manifests. */
export const persistentVolumeClaim: Decoder<PersistentVolumeClaim> = object<PersistentVolumeClaim>(
  {
    apiVersion: oneOf('v1'),
    kind: oneOf('PersistentVolumeClaim'),
    metadata: objectMeta,
    spec: claimSpec,
    status: anything,
  },
  { required: ['metadata', 'spec'] },
);
