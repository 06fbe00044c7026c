import type { ClientRequest, OutgoingHttpHeaders } from 'node:http';

/** A request to a backend. `path` includes the query. */
export type BackendCall = {
  method: string;
  path: string;
  headers: OutgoingHttpHeaders;
  /**
   * Whether the request may be sent on an idle connection. It fails with ECONNRESET or EPIPE if the backend closes that connection at the
   * same time. Default: false.
   */
  mayReuse?: boolean;
};

/** A server to which the API server forwards requests: a node's kubelet, or a server in a pod. */
export type Backend = {
  scheme: 'http' | 'https';
  /** The backend's host and port as HOST:PORT, with IPv6 addresses in brackets. */
  authority: string;
  /** Starts an HTTP/1.1 request, by default on a new connection. The caller must handle the request's errors and end it. */
  request(call: BackendCall): ClientRequest;
};
