/** The contract between the registry and admission. */
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { JsonObject, Resource } from '@podwright/kube-schema';

/** Converts the objects of a kind between the storage version and one served version. */
export type AdmittedVersion = {
  fromStored: (object: ApiObject) => ApiObject;
  /**
   * Decodes an object in this version, converts it to the storage version and applies the kind's defaults. Throws `invalid_argument`, or an
   * `ApiError` if it cannot be converted.
   */
  toStored: (value: JsonObject) => ApiObject;
};

/** What the mutating plugins share during one write. If a webhook or policy changes the object, all plugins run a second time. */
export type Reinvocation = {
  /** Whether the plugins run for the second time. */
  isSecond: boolean;
  /** Whether the plugins must run a second time. A plugin that calls webhooks or policies sets it. */
  isRequested: boolean;
  /** What each plugin keeps for its second run, by the name of the plugin. */
  memory: Map<string, unknown>;
};

/** Adds an annotation to the audit event. The first value of a key is kept. With `Request`, events of the level `Metadata` omit it. */
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
  /** Returns the conversion for a served version of the kind. Absent if the object is of another kind, as in `pods/binding`. */
  inVersion?: (resource: Resource) => AdmittedVersion;
  /** Adds a `Warning` header to the response. */
  warn: (message: string) => void;
  /** The options that the client sent, such as `fieldManager`, without defaults. */
  options?: JsonObject;
  /** Absent if the request has no audit event. */
  annotate?: AddAnnotation;
  /** Aborts when the client disconnects or the time limit of the request is over. */
  signal?: AbortSignal;
  /** Present for mutating plugins only. */
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
