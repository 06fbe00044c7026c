import type { ObjectKey } from '../store/object-store.ts';
import type { ServedKind } from './served-kind.ts';

/** The key of an object; its namespace is ignored for cluster-scoped kinds. */
export const keyIn = ({ resource, storeResource }: ServedKind, namespace: string, name: string): ObjectKey => ({
  resource: storeResource,
  namespace: resource.namespaced ? namespace : '',
  name,
});
