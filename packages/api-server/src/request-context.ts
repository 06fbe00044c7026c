import type { UserInfo } from '@podwright/kube-kinds';

/** What a registry must know about the request of a write. */
export type RequestContext = {
  user: UserInfo;
  nowMs: number;
  /** Validates and admits the write, and returns its result without storing it. */
  dryRun: boolean;
  /** The `fieldManager` parameter, or the default from the User-Agent (`managerFromUserAgent`). */
  fieldManager: string;
  /** Adds a `Warning` header to the answer. */
  warn: (message: string) => void;
  /** A subresource such as `status`; absent or empty for the main resource. */
  subresource?: string;
  /** Throws `forbidden` if the user may not create the object: called if an update or apply would create it. */
  authorizeCreate?: () => Promise<void>;
  signal?: AbortSignal;
};
