import type { KubeObject, Resource } from '@podwright/kube-api';
import type { CallOptions, ListOf, WatchEvent } from '../kube-client.ts';

/** A request to the API server. */
export type Call = {
  method: string;
  /** The path and query. */
  path: string;
  body?: unknown;
  contentType?: string;
  /** Media types to accept. Default: JSON. */
  accept?: string;
  /** Names the operation and its object in error messages, as in `create pods shop/web`. */
  what: string;
};

/**
 * Makes the calls of an `ApiClient`. Unsuccessful responses reject with `ApiStatusError`, after the retries described by `KubeClient`. The
 * caller may modify the returned objects.
 */
export interface Calls {
  /** Returns the object in the response. */
  object<T extends KubeObject>(call: Call, options?: CallOptions): Promise<T>;
  /** Returns the list in the response, with the resource's `apiVersion` and `kind` set in each item. */
  list<T extends KubeObject>(call: Call, resource: Resource, options?: CallOptions): Promise<ListOf<T>>;
  /** Waits for a successful response and ignores its body. */
  done(call: Call, options?: CallOptions): Promise<void>;
  /** Returns the response's body as text. */
  text(call: Call, options?: CallOptions): Promise<string>;
  /** Yields the watch events in the response. Rejects like `KubeClient.watch`; once the signal has aborted, the error can be any error. */
  watch<T extends KubeObject>(call: Call, options: WatchCallOptions, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
}

export type WatchCallOptions = {
  /** Called once the server has accepted the watch. */
  onOpen?: () => void;
  /** Whether the watch starts with the existing objects. */
  sendInitialEvents?: boolean;
};
