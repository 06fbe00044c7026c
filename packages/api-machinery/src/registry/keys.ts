import type { ObjectKey } from '../store/object-store.ts';
import type { ServedKind } from './served-kind.ts';

/** Returns an object's key in the store. For cluster-scoped kinds, the namespace is ignored. */
export const keyIn = ({ resource, storeResource }: ServedKind, namespace: string, name: string): ObjectKey => ({
  resource: storeResource,
  namespace: resource.namespaced ? namespace : '',
  name,
});
