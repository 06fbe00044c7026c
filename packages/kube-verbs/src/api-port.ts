import type { KubeMetadata } from '@podwright/kube-api';

/** A request to a Kubernetes API. Undefined values in `query` are omitted. */
export type ApiRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | string[] | undefined>;
  body?: unknown;
  contentType?: string;
  accept?: string;
  signal?: AbortSignal;
};

/** How verbs call an API server. Implementations reject with errors that carry the code and message of the server's `Status`. */
export interface ApiPort {
  /** Sends a request. Returns the response as decoded JSON. */
  call(request: ApiRequest): Promise<unknown>;
  /** Yields the events of a watch as decoded JSON. Ends without an error when the request's signal aborts. */
  watch(request: ApiRequest): AsyncIterable<WatchedChange>;
}

export type WatchedChange = { type: string; object: ApiObject };

/** An object of any kind. Only `metadata.name` is always set. */
export type ApiObject = {
  apiVersion?: string;
  kind?: string;
  metadata: KubeMetadata & { name: string };
  spec?: object;
  status?: object;
};
