import { type ApiObject, valueAt } from '@podwright/kube-kinds';

/** Returns the StorageClass named by a claim's field or legacy annotation, or `undefined` if there is none. */
export function claimClass(claim: ApiObject | undefined): string | undefined {
  const annotated = valueAt(claim, 'metadata', 'annotations', 'volume.beta.kubernetes.io/storage-class');
  const found = annotated ?? valueAt(claim, 'spec', 'storageClassName');
  return typeof found === 'string' ? found : undefined;
}
