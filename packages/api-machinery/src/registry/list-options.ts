/** The validated parameters of list, watch and deletecollection requests (meta/v1 ListOptions). */
export type ListOptions = {
  labelSelector: string;
  fieldSelector: string;
  /** The `resourceVersion` parameter; '' if the client did not send it. */
  resourceVersion: string;
  /** The `resourceVersionMatch` parameter: `Exact`, `NotOlderThan`, or '' if the client did not send it. */
  resourceVersionMatch: string;
  /** Maximum number of objects per page; 0 means no limit. */
  limit: number;
  /** The `continue` parameter: the token of the requested page, or '' for the first page. */
  continue: string;
  allowWatchBookmarks: boolean;
  /** Whether a watch starts with the existing objects. Defaults to `true` if the resource version is unset or 0. */
  sendInitialEvents: boolean | undefined;
  timeoutSeconds: number | undefined;
  /**
   * Not a parameter: waits until it is the request's turn to compute the next slice of a long list. Default: yields to the event loop
   * between slices.
   */
  turn?: () => Promise<void>;
};
