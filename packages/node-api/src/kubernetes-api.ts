import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request to the in-process API server. `what` names the operation and its object in errors. */
export type ApiCall = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  contentType?: string;
  what: string;
};

/** An object of the Kubernetes API, as JSON. */
export type KubernetesObject = {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name?: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    deletionTimestamp?: string;
    annotations?: Record<string, string>;
  };
};

/** The node's own Kubernetes API, with administrator permissions. */
export interface KubernetesApi {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Rejects with `not_found` if the object does not exist, `aborted` on a conflict, and `invalid_argument` for an invalid object. */
  call(call: ApiCall): Promise<KubernetesObject>;
  /** Returns the body of a response that is not an object, such as a discovery document. */
  text(call: ApiCall): Promise<string>;
}
