import type { ApiObject } from '../api-object.ts';
import { expressionWarnings } from '../node-selector.ts';
import { objectAt, objectsAt, textAt, valueAt } from '../values.ts';

const DEPRECATED_ANNOTATIONS = [
  ['volume.beta.kubernetes.io/storage-class', 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ['volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
] as const;
const DEPRECATED_SOURCES = [
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+', 'storageOS'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;

export function volumeWarnings(object: ApiObject): string[] {
  const recycle =
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
  const terms = objectsAt(object, 'spec', 'nodeAffinity', 'required', 'nodeSelectorTerms');
  return [
    ...DEPRECATED_ANNOTATIONS.filter(([key]) => valueAt(object.metadata, 'annotations', key) !== undefined).map(
      ([key, message]) => `metadata.annotations[${key}]: ${message}`,
    ),
    ...(textAt(object, 'spec', 'persistentVolumeReclaimPolicy') === 'Recycle' ? [recycle] : []),
    ...terms.flatMap((term, index) =>
      expressionWarnings(`spec.nodeAffinity.required.nodeSelectorTerms[${index}]`, term),
    ),
    ...DEPRECATED_SOURCES.filter(([name]) => objectAt(object, 'spec', name) !== undefined).map(
      ([name, message, field = name]) => `spec.${field}: ${message}`,
    ),
  ];
}
