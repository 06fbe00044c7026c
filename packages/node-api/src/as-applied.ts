import { isDeepStrictEqual } from 'node:util';
import type { EphemeralContainer, Pod } from '@podwright/kube-api';
import type { Applicable } from './applied-objects.ts';
import type { ApiObject } from './node-backend.ts';
import { plain } from './sent-patch.ts';

/** Matches annotations that the kubelet sets on pods from manifests. */
const KUBELET_ANNOTATION = /^kubernetes\.io\/config\./;

/**
 * Returns an object as clients will see it once the kubelet has read its file. Until then it has no `resourceVersion`, so that a JSON patch
 * testing for the previous version fails.
 */
export function asApplied(shown: ApiObject, file: Applicable): ApiObject {
  const { uid, labels, annotations } = file.metadata;
  if (uid && uid !== shown.metadata.uid) return withoutVersion(file);
  const kubelets = Object.entries(shown.metadata.annotations ?? {}).filter(([key]) => KUBELET_ANNOTATION.test(key));
  const merged = { ...annotations, ...Object.fromEntries(kubelets) };
  const metadata = { ...shown.metadata, labels, annotations: Object.keys(merged).length > 0 ? merged : annotations };
  const current =
    shown.kind === 'Pod' && file.kind === 'Pod'
      ? { ...shown, metadata, spec: { ...shown.spec, ...file.spec, tolerations: shown.spec.tolerations } }
      : ({ ...shown, ...file, metadata } as ApiObject);
  return isDeepStrictEqual(plain(current), plain(shown)) ? shown : withoutVersion(current);
}

function withoutVersion<T extends ApiObject>(object: T): T {
  return { ...object, metadata: { ...object.metadata, resourceVersion: undefined } };
}

/** Returns the pod with these ephemeral containers in place of its own. */
export function withEphemeral({ spec, ...pod }: Pod, ephemeralContainers: EphemeralContainer[]): Pod {
  return {
    ...pod,
    spec: { ...spec, ephemeralContainers: ephemeralContainers.length > 0 ? ephemeralContainers : undefined },
  };
}
