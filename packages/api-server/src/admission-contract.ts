/** The contract between the registry and admission: what is asked for each write, and when. */
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';

export type AdmissionAttributes = {
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  resource: Resource;
  /** '' for the main resource. */
  subresource: string;
  /** '' for cluster-scoped objects; for a Namespace, as in upstream, its own name. */
  namespace: string;
  /** '' while a generated name is not known yet, and for the deletion of a collection. */
  name: string;
  /** The new object in its stored version. Undefined for DELETE. */
  object?: ApiObject;
  /** The stored object. Undefined for CREATE. */
  oldObject?: ApiObject;
  user: UserInfo;
  dryRun: boolean;
  /** Adds a `Warning` header to the answer. */
  warn: (message: string) => void;
};

/** Both functions throw an `ApiError` to reject the request. They may be called again for the same request if a write conflicts. */
export type Admission = {
  /** Called before the kind's rules. Returns the object, changed or not; for DELETE nothing is done with the result. */
  mutate(attributes: AdmissionAttributes): Promise<ApiObject | undefined>;
  /** Called with the complete and valid object, immediately before the write. */
  validate(attributes: AdmissionAttributes): Promise<void>;
};
