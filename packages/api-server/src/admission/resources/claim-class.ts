import { type ApiObject, valueAt } from '@podwright/kube-kinds';

/** Returns the StorageClass that a claim names in its field or in the older annotation, or `undefined` if it names none. */
export function claimClass(claim: ApiObject | undefined): string | undefined {
  const annotated = valueAt(claim, 'metadata', 'annotations', 'volume.beta.kubernetes.io/storage-class');
  const found = annotated ?? valueAt(claim, 'spec', 'storageClassName');
  return typeof found === 'string' ? found : undefined;
}
