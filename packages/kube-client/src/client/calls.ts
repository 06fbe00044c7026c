import type { KubeObject, Resource } from '@podwright/kube-api';
import type { CallOptions, ListOf, WatchEvent } from '../kube-client.ts';

/** A request to the API server. */
export type Call = {
  method: string;
  /** The path and query. */
  path: string;
  body?: unknown;
  contentType?: string;
  /** Media types accepted for the response. Default: JSON. */
  accept?: string;
  /** Names the operation and its object in errors. */
  what: string;
};

/**
 * Sends the requests of an `ApiClient`. The calls reject with `ApiStatusError` for an unsuccessful response, after the retries that
 * `KubeClient` describes. The caller may change the returned objects.
 */
export interface Calls {
  /** Returns the object in the response. */
  object<T extends KubeObject>(call: Call, options?: CallOptions): Promise<T>;
  /** Returns the list in the response, whose items have the kind of the resource. */
  list<T extends KubeObject>(call: Call, resource: Resource, options?: CallOptions): Promise<ListOf<T>>;
  /** Waits for a successful response, whose body does not matter. */
  done(call: Call, options?: CallOptions): Promise<void>;
  /** Returns the response's body as text. */
  text(call: Call, options?: CallOptions): Promise<string>;
  /** Yields the events of the response. Rejects like `KubeClient.watch`, and with any error if the signal aborts. */
  watch<T extends KubeObject>(call: Call, options: WatchCallOptions, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
}

export type WatchCallOptions = {
  /** Called once the server has accepted the watch. */
  onOpen?: () => void;
  /** Whether the watch begins with the existing objects. */
  sendInitialEvents?: boolean;
};
