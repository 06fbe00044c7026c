import type { KubeMetadata } from '@podwright/kube-api';

/** A request to a Kubernetes API. Undefined values of `query` are left out. */
export type ApiRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | string[] | undefined>;
  body?: unknown;
  contentType?: string;
  accept?: string;
  signal?: AbortSignal;
};

/** How verbs call an API server. Implementations reject with errors that have the codes and messages of the server's `Status`. */
export interface ApiPort {
  /** Sends a request. Returns the response, decoded from JSON. */
  call(request: ApiRequest): Promise<unknown>;
  /** Yields the events of a watch, decoded from JSON. Ends without an error when the signal of the request aborts. */
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
