import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { JsonObject } from '@podwright/kube-schema';
import type { AddAnnotation } from './admission-contract.ts';

/** Properties of a request that affect its write. */
export type RequestContext = {
  user: UserInfo;
  nowMs: number;
  /** Whether to validate and admit the write and return its result without storing it. */
  dryRun: boolean;
  /**
   * The `fieldManager` parameter. Defaults to a name derived from the User-Agent. `undefined` for writes that do not update
   * `managedFields`, such as bindings.
   */
  fieldManager: string | undefined;
  /** Adds a `Warning` header to the response. */
  warn: (message: string) => void;
  /** Name of the subresource that is written, such as `status`. Unset or empty for the main resource. */
  subresource?: string;
  /** Throws a Forbidden error if the user may not create the object. Called when an update or apply would create it. */
  authorizeCreate?: () => Promise<void>;
  /**
   * Throws a Forbidden error if the user is no longer allowed to make the request. Called before the write, because reading the body and
   * calling admission webhooks can take a minute, in which the namespace might have been deleted and recreated for other users.
   */
  authorizeAgain?: () => void;
  signal?: AbortSignal;
  /** The options as sent by the client, such as `fieldManager`, without defaults. Only used by admission. */
  options?: JsonObject;
  /** Adds an annotation to the request's audit event. Unset if the request is not audited. */
  annotate?: AddAnnotation;
  /**
   * Returns the object to pass to admission instead of the written object. For writes to a Scale, this is the Scale. Default: the written
   * object.
   */
  admittedPart?: (object: ApiObject) => ApiObject;
  /** Whether to skip admission because it has already admitted the request that causes this write, such as a Binding. Default: false. */
  isAdmitted?: boolean;
};
