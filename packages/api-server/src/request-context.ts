import type { UserInfo } from '@podwright/kube-kinds';

/** The facts of a request that affect its write. */
export type RequestContext = {
  user: UserInfo;
  nowMs: number;
  /** Validates and admits the write, and returns its result without storing it. */
  dryRun: boolean;
  /** The `fieldManager` parameter, or its default from the User-Agent. Undefined for writes that are not tracked, such as bindings. */
  fieldManager: string | undefined;
  /** Adds a `Warning` header to the answer. */
  warn: (message: string) => void;
  /** A subresource such as `status`; absent or empty for the main resource. */
  subresource?: string;
  /** Throws `forbidden` if the user may not create the object. Called when an update or apply creates it. */
  authorizeCreate?: () => Promise<void>;
  signal?: AbortSignal;
};
