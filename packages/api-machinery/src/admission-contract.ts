/** The contract between the object registry and admission control. */
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { JsonObject, Resource } from '@podwright/kube-schema';

/** Converts the objects of a kind between the storage version and one served version. */
export type AdmittedVersion = {
  fromStored: (object: ApiObject) => ApiObject;
  /**
   * Decodes an object from this version, converts it to the storage version and applies the kind's defaults. Throws `invalid_argument`, or
   * an `ApiError` if the conversion fails.
   */
  toStored: (value: JsonObject) => ApiObject;
};

/** State shared by the mutating plugins during a write. If a webhook or policy changes the object, all plugins run a second time. */
export type Reinvocation = {
  /** Whether the plugins are now running for the second time. */
  isSecond: boolean;
  /** Whether the plugins must run a second time. Set by plugins that call webhooks or policies. */
  isRequested: boolean;
  /** State that plugins retain for the second run, by plugin name. */
  memory: Map<string, unknown>;
};

/**
 * Adds an annotation to the audit event. An existing annotation is not overwritten. With `Request`, it is omitted from events at level
 * `Metadata`.
 */
export type AddAnnotation = (key: string, value: string, level?: 'Request') => void;

/** The attributes of a write request, for admission plugins to admit, mutate or reject. */
export type AdmissionAttributes = {
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  resource: Resource;
  /** Name of the subresource that is written; '' for the main resource. */
  subresource: string;
  /** The request's namespace; '' for cluster-scoped objects except Namespaces, whose own name is used here, as in upstream. */
  namespace: string;
  /** The object's name; '' if it has not been generated yet, and for all objects of a `deletecollection` request. */
  name: string;
  /** The new state of the object, in the storage version; undefined for DELETE. */
  object?: ApiObject;
  /** The stored object before the write; undefined for CREATE. */
  oldObject?: ApiObject;
  user: UserInfo;
  dryRun: boolean;
  /** Returns the conversion to and from a served version of the kind. Unset if the object is of a different kind, as in `pods/binding`. */
  inVersion?: (resource: Resource) => AdmittedVersion;
  /** Adds a `Warning` header to the response. */
  warn: (message: string) => void;
  /** The write options that the client sent, such as `fieldManager`, without defaults. */
  options?: JsonObject;
  /** Adds an annotation to the request's audit event. Unset if the request is not audited. */
  annotate?: AddAnnotation;
  /** Signal that aborts when the client disconnects or the request times out. */
  signal?: AbortSignal;
  /** Lets mutating plugins request a second run; unset for validating plugins. */
  reinvocation?: Reinvocation;
};

/**
 * Admission control. Both methods throw an `ApiError` to reject the request. They are called again if the write is retried after a
 * conflict.
 */
export type Admission = {
  /** Called before the kind's strategy runs. Returns the object, mutated or unchanged. The result is ignored for DELETE. */
  mutate(attributes: AdmissionAttributes): Promise<ApiObject | undefined>;
  /** Called with the completed and validated object, before it is written. */
  validate(attributes: AdmissionAttributes): Promise<void>;
};
