/** The contract between the registry and admission. */
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { JsonObject, Resource } from '@podwright/kube-schema';

/** A served version of a kind. */
export type AdmittedVersion = {
  fromStored: (object: ApiObject) => ApiObject;
  /**
   * Decodes an object in this version, converts it to the storage version and applies the kind's defaults. Throws `invalid_argument`, or an
   * `ApiError` if it cannot be converted.
   */
  toStored: (value: JsonObject) => ApiObject;
};

/** Shared by the mutating plugins during one write, which may call them twice: if one changes the object, all run again. */
export type Reinvocation = {
  /** Whether the plugins run for the second time. */
  isSecond: boolean;
  /** Set by a plugin that has changed the object. */
  isRequested: boolean;
  /** What plugins remember until the second time, by their names. */
  memory: Map<string, unknown>;
};

export type AddAnnotation = (key: string, value: string, level?: 'Request') => void;

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
  /** Returns a served version of the kind. Absent if the object is not of the resource's kind, as in `pods/binding`. */
  inVersion?: (resource: Resource) => AdmittedVersion;
  /** Adds a `Warning` header to the response. */
  warn: (message: string) => void;
  /** The options of the request, as far as the client sent them. */
  options?: JsonObject;
  /** Adds an annotation to the audit event. Those of the level `Request` are left out of events with less detail. */
  annotate?: AddAnnotation;
  /** Aborts when the client has disconnected, or the request has taken too long. */
  signal?: AbortSignal;
  /** Set for mutating plugins. */
  reinvocation?: Reinvocation;
};

/**
 * Admission control. Both functions throw an `ApiError` to reject the request. They are called again if the write is retried after a
 * conflict.
 */
export type Admission = {
  /** Called before the kind's own strategy runs. Returns the object, mutated or unchanged. The result is ignored for DELETE. */
  mutate(attributes: AdmissionAttributes): Promise<ApiObject | undefined>;
  /** Called with the completed and validated object, before it is written. */
  validate(attributes: AdmissionAttributes): Promise<void>;
};
