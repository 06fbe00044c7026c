import type { ApiObject } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';

/** A resource whose objects are not stored but computed for each request. They can be read only, and not watched. */
export type ComputedResource = {
  resource: Resource;
  /** Returns the objects of a namespace that `isAsked` accepts; those of all namespaces if the namespace is ''. */
  list: (asked: AskedObjects) => Promise<readonly ApiObject[]>;
};

export type AskedObjects = {
  namespace: string;
  isAsked: (metadata: ApiObject['metadata']) => boolean;
  signal: AbortSignal;
};
