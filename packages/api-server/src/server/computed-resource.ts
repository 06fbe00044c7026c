import type { ApiObject } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';

/** A resource whose objects are computed for each request instead of stored. Clients can get and list them, but not watch or write them. */
export type ComputedResource = {
  resource: Resource;
  /** Returns the objects of a namespace, or of all namespaces if it is '', that `isAsked` accepts. */
  list: (asked: AskedObjects) => Promise<readonly ApiObject[]>;
};

export type AskedObjects = {
  namespace: string;
  isAsked: (metadata: ApiObject['metadata']) => boolean;
  signal: AbortSignal;
};
