/** The contract between the registry and admission. */
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';

/** The attributes of a write request, which admission plugins may admit, mutate or reject. */
export type AdmissionAttributes = {
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  resource: Resource;
  /** '' for the main resource. */
  subresource: string;
  /** '' for cluster-scoped objects, except that a Namespace has its own name here, as in upstream. */
  namespace: string;
  /** '' if the name has not been generated yet, and for each object that a `deletecollection` request deletes. */
  name: string;
  /** The new object in the storage version; undefined for DELETE. */
  object?: ApiObject;
  /** The stored object; undefined for CREATE. */
  oldObject?: ApiObject;
  user: UserInfo;
  dryRun: boolean;
  /** Converts an object from the storage version to the version of the request. Default: they are the same. */
  versioned?: (object: ApiObject) => ApiObject;
  /** Adds a `Warning` header to the response. */
  warn: (message: string) => void;
};

/**
 * Admission control. Both functions throw an `ApiError` to reject the request. They are called again if the write is retried after a
 * conflict.
 */
export type Admission = {
  /** Called before the kind's own strategy runs. Returns the object, mutated or unchanged. The registry ignores the result for DELETE. */
  mutate(attributes: AdmissionAttributes): Promise<ApiObject | undefined>;
  /** Called with the completed and validated object, before it is written. */
  validate(attributes: AdmissionAttributes): Promise<void>;
};
