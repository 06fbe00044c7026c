import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { PathRequest, PathResponse } from '@podwright/api-documents';
import type { ResourceRegistry } from '@podwright/api-machinery';
import type { Logger } from '@podwright/base';
import type { FlowControl, LongRunning } from '@podwright/flow-control';
import type { UserInfo } from '@podwright/kube-kinds';
import type { Resource, Schema } from '@podwright/kube-schema';
import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import type { EventEncoder } from '../wire/encode-event.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import type { ResponseWriter } from '../wire/response-writer.ts';
import type { SliceTurns } from '../wire/slice-turns.ts';
import type { ComputedResource } from './computed-resource.ts';
import type { RequestInfo } from './request-info.ts';
import type { RequestObserver } from './request-observer.ts';

/** The registry functions that request handling uses, for one resource in one version. */
export type ServedResource = Pick<
  ResourceRegistry,
  'create' | 'get' | 'list' | 'watch' | 'update' | 'patch' | 'delete' | 'deleteCollection' | 'reach' | 'toStored'
>;

/** Handles requests for a subresource that is not part of the object itself, such as `pods/log`. */
export type SubresourceHandler = (request: ResourceRequest) => Promise<void>;

/** Responds to non-resource requests: discovery, health, OpenAPI documents and the version. */
export interface PathDocuments {
  /** Returns the response to a request for a non-resource path. Throws `ApiError`. */
  respond(request: PathRequest): Promise<PathResponse>;
  /** Returns the response to a request for a resource that the server does not have, in this API group. May throw a 404 error. */
  unknownResource(group: string): PathResponse;
}

/** The connection of a client, either over the local unix socket, which only root can access, or over TLS. */
export type ClientConnection =
  | { isLocal: true }
  | {
      isLocal: false;
      tlsSocket: TLSSocket;
      /** Marks the connection as in use, so that it is not closed as idle until the returned function is called. */
      use: () => () => void;
      /** Must be called once a request on the connection is authenticated. Throws 429 if the user has too many connections. */
      authenticated: (username: string) => void;
    };

/** Routes requests to extension API servers. */
export type ExtensionServers = {
  /** Returns the handler for a request served by an extension API server; `undefined` if this server handles the request itself. */
  handlerOf: (info: RequestInfo) => ((request: AuthorizedRequest) => Promise<void>) | undefined;
  /** Whether an extension API server serves any version of the group. */
  hasGroup: (group: string) => boolean;
};

export type ServerParts = {
  schema: Schema;
  /** Returns the registry of a resource, or `undefined` if the server does not have the resource. */
  servedResource: (resource: Resource) => ServedResource | undefined;
  /**
   * Handlers by group resource and subresource (e.g. `pods/log`, `deployments.apps/scale`), or by group resource for objects that are only
   * created, such as reviews.
   */
  subresources: ReadonlyMap<string, SubresourceHandler>;
  /** Resources whose objects are not stored. */
  computed?: readonly ComputedResource[];
  /** Routes requests to extension API servers. Default: there are none. */
  extensions?: ExtensionServers;
  /** Returns a signal that aborts when a custom resource is removed or changes. Default: custom resources never change. */
  endOf?: (resource: Resource) => AbortSignal;
  documents: PathDocuments;
  /** Returns the user of a request over TLS, or `undefined` if the request has no credentials. Throws 401 if they are invalid. */
  authenticate: (request: { tlsSocket: TLSSocket; headers: IncomingHttpHeaders }) => Promise<UserInfo | undefined>;
  /** Paths where requests without credentials are treated as the user `system:anonymous`, who is subject to RBAC. Default: none. */
  anonymousPaths?: readonly string[];
  /** Returns the user impersonated by a request, or `undefined` if there is none. Throws 403 if the impersonation is not allowed. */
  impersonate: (rawHeaders: readonly string[], attributes: AuthorizationAttributes) => UserInfo | undefined;
  authorizer: Authorizer;
  /** Encodes the events of all watches, so that watches of the same object share the encoding. */
  encoder: EventEncoder;
  /** Lets requests for long lists take turns: only one request computes a slice at a time. */
  sliceTurns: SliceTurns;
  logger: Logger;
  now: () => number;
  /** Observers that are notified of each request. */
  observers?: readonly RequestObserver[];
  flowControl: FlowControl;
  /** Limits the number of concurrent watches. */
  watches: LongRunning;
  /** Limits the number of other concurrent requests without a timeout, such as logs. */
  streams: LongRunning;
  /** Resolves once all writes so far are durable. Returns `undefined` if they already are. Rejects with an `ApiError` if the disk fails. */
  untilDurable: () => Promise<void> | undefined;
};

export type AuthorizedRequest = {
  exchange: HttpExchange;
  writer: ResponseWriter;
  info: RequestInfo;
  user: UserInfo;
  parts: ServerParts;
};

/** An authorized request for a resource's objects. */
export type ResourceRequest = {
  exchange: HttpExchange;
  writer: ResponseWriter;
  info: RequestInfo;
  user: UserInfo;
  resource: Resource;
  served: ServedResource;
  parts: ServerParts;
};
