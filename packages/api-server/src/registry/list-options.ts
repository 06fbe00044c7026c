/** The parameters of lists, watches and deletions of collections, after their validation (meta/v1 ListOptions). */
export type ListOptions = {
  labelSelector: string;
  fieldSelector: string;
  /** '' if the client names none. */
  resourceVersion: string;
  /** `Exact`, `NotOlderThan` or ''. */
  resourceVersionMatch: string;
  /** 0: no limit. */
  limit: number;
  /** The token with which the list continues; '' for its first page. */
  continue: string;
  allowWatchBookmarks: boolean;
  /** Whether a watch reports the existing objects first. Default: if it has no version, or version 0. */
  sendInitialEvents: boolean | undefined;
  timeoutSeconds: number | undefined;
};
