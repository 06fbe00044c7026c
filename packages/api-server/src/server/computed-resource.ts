import type { ApiObject } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';

/** A resource whose objects are computed for each request instead of stored. Clients can get and list them, but not watch or write them. */
export type ComputedResource = {
  resource: Resource;
  /** Returns the objects accepted by `isAsked`, from one namespace or, if `namespace` is '', from all. */
  list: (asked: AskedObjects) => Promise<readonly ApiObject[]>;
};

export type AskedObjects = {
  namespace: string;
  isAsked: (metadata: ApiObject['metadata']) => boolean;
  signal: AbortSignal;
};
