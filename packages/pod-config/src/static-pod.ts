import { createHash } from 'node:crypto';
import {
  CONFIG_CONTENT_ANNOTATION,
  CONFIG_FILE_ANNOTATION,
  CONFIG_HASH_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
  type PlacedObject,
  type Pod,
  type PodSourceName,
  type PodSpec,
  seenAt,
  type Toleration,
  unresizable,
} from '@podwright/kube-api';

/**
 * Gives a static pod its identity. If the manifest has no UID, the UID is a hash of the node name, the file and the content, so it is
 * stable across restarts and changes with the manifest, as in upstream. CPU and memory amounts are not hashed, because a running pod can be
 * resized. In a cluster, the node name is appended to the pod name.
 */
export function identifyPod(
  placed: PlacedObject & { object: Pod },
  { source, nodeName, seenAtMs, ofCluster }: StaticPodContext,
): Pod {
  const { object: pod, file } = placed;
  const hashOf = (content: object) =>
    createHash('sha256')
      .update(JSON.stringify([nodeName, source, file, { ...content, status: undefined }]))
      .digest('hex')
      .slice(0, 32);
  const uid = pod.metadata.uid || hashOf(unresizable(pod) as object);
  const annotations = {
    ...pod.metadata.annotations,
    [CONFIG_SOURCE_ANNOTATION]: source,
    [CONFIG_HASH_ANNOTATION]: uid,
    [CONFIG_SEEN_ANNOTATION]: seenAt(seenAtMs),
    [CONFIG_FILE_ANNOTATION]: file,
    [CONFIG_CONTENT_ANNOTATION]: hashOf(pod),
  };
  const { status: _, ...rest } = pod;
  return {
    ...rest,
    metadata: {
      ...pod.metadata,
      ...(ofCluster && { name: nameInCluster(pod, nodeName) }),
      uid,
      annotations,
    },
    spec: { ...pod.spec, nodeName, ...(source === 'file' ? { tolerations: withStaticToleration(pod.spec) } : {}) },
  };
}

/** The source and node of a static pod. `ofCluster`: its mirror pod is listed together with the pods of other nodes. */
type StaticPodContext = { source: PodSourceName; nodeName: string; seenAtMs: number; ofCluster?: boolean };

function nameInCluster({ metadata }: Pod, nodeName: string): string {
  return `${metadata.name}-${nodeName.toLowerCase()}`;
}

/** Pods from manifests tolerate all NoExecute taints, as in upstream. */
function withStaticToleration({ tolerations = [] }: PodSpec): Toleration[] {
  const isThere = tolerations.some(
    ({ key, operator, effect }) => (key ?? '') === '' && operator === 'Exists' && effect === 'NoExecute',
  );
  return isThere ? tolerations : [...tolerations, { operator: 'Exists', effect: 'NoExecute' }];
}
