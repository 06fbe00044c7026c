/** The contract between the registry and admission. */
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';

/** A write that admission admits, changes or rejects. */
export type AdmissionAttributes = {
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  resource: Resource;
  /** '' for the main resource. */
  subresource: string;
  /** '' for cluster-scoped objects. For a Namespace, as in upstream, its own name. */
  namespace: string;
  /** '' while the name has not been generated, and for each object of a deleted collection. */
  name: string;
  /** The new object in its stored version; undefined for DELETE. */
  object?: ApiObject;
  /** The stored object; undefined for CREATE. */
  oldObject?: ApiObject;
  user: UserInfo;
  dryRun: boolean;
  /** Adds a `Warning` header to the answer. */
  warn: (message: string) => void;
};

/** Both functions throw an `ApiError` to reject the request. They are called again if a write conflicts. */
export type Admission = {
  /** Called before the kind's rules. Returns the object, changed or not. The registry ignores the result for DELETE. */
  mutate(attributes: AdmissionAttributes): Promise<ApiObject | undefined>;
  /** Called with the complete and valid object, before the write. */
  validate(attributes: AdmissionAttributes): Promise<void>;
};
