import { type ApiObject, valueAt } from '@podwright/kube-kinds';

/** The class that a claim names, by its field or by the older annotation; undefined if it names none. */
export function claimClass(claim: ApiObject | undefined): string | undefined {
  const annotated = valueAt(claim, 'metadata', 'annotations', 'volume.beta.kubernetes.io/storage-class');
  const found = annotated ?? valueAt(claim, 'spec', 'storageClassName');
  return typeof found === 'string' ? found : undefined;
}
