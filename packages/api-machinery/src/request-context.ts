import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { JsonObject } from '@podwright/kube-schema';
import type { AddAnnotation } from './admission-contract.ts';

/** Properties of a request that affect how its write is handled. */
export type RequestContext = {
  user: UserInfo;
  nowMs: number;
  /** Whether to validate and admit the write and return its result without storing it. */
  dryRun: boolean;
  /**
   * The `fieldManager` parameter, or its default, which is derived from the User-Agent. `undefined` for writes whose fields are not
   * tracked, such as bindings.
   */
  fieldManager: string | undefined;
  /** Adds a `Warning` header to the response. */
  warn: (message: string) => void;
  /** A subresource such as `status`; absent or empty for the main resource. */
  subresource?: string;
  /** Throws a Forbidden error if the user may not create the object. Called if an update or apply would create it. */
  authorizeCreate?: () => Promise<void>;
  signal?: AbortSignal;
  /** The options of the request, as far as the client sent them. Only admission reads them. */
  options?: JsonObject;
  /** Adds an annotation to the audit event of the request. Default: it has none. */
  annotate?: AddAnnotation;
  /** Returns what validating admission sees of an object: its scale, for writes of scales. Default: all of it. */
  admittedPart?: (object: ApiObject) => ApiObject;
  /** Whether the write needs no admission: it was admitted as a write of another object, such as a binding. Default: false. */
  isAdmitted?: boolean;
};
