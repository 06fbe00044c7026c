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
  /**
   * Throws a Forbidden error if the user may no longer make the request. Called before the write: the body and admission webhooks may have
   * taken a minute, in which the namespace may have been deleted and created again for others.
   */
  authorizeAgain?: () => void;
  signal?: AbortSignal;
  /** The options that the client sent, such as `fieldManager`, without defaults. Only admission reads them. */
  options?: JsonObject;
  /** Absent if the request has no audit event. */
  annotate?: AddAnnotation;
  /** Returns what admission gets instead of the written object: the Scale, for writes of a scale. Default: the written object. */
  admittedPart?: (object: ApiObject) => ApiObject;
  /** Whether admission is skipped, because it has already admitted the request that causes the write, such as a Binding. Default: false. */
  isAdmitted?: boolean;
};
