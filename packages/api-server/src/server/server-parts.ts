import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '@podwright/base';
import type { UserInfo } from '@podwright/kube-kinds';
import type { Resource, Schema } from '@podwright/kube-schema';
import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import type { PathRequest, PathResponse } from '../http-answer.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import type { EventEncoder } from '../wire/encode-event.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import type { ResponseWriter } from '../wire/response-writer.ts';
import type { InFlightLimits } from './in-flight.ts';
import type { RequestInfo } from './request-info.ts';

/** The objects of one resource, in the version of the resource. */
export type ServedResource = Pick<
  ResourceRegistry,
  'create' | 'get' | 'list' | 'watch' | 'update' | 'patch' | 'delete' | 'deleteCollection' | 'toStored'
>;

/** Responds to a request for a subresource that is not a part of the object itself, such as `pods/log`. */
export type SubresourceHandler = (request: ResourceRequest) => Promise<void>;

/** Responds to requests for paths that are not objects: discovery, health, OpenAPI documents, the version. */
export interface PathDocuments {
  /** Throws `ApiError`. */
  respond(request: PathRequest): Promise<PathResponse>;
  /** The response for a resource that the server does not have. May throw 404. */
  unknownResource(group: string): PathResponse;
}

/** The connection of a client: the root-only socket of the machine, or TLS. */
export type ClientConnection =
  | { isLocal: true }
  | {
      isLocal: false;
      tlsSocket: TLSSocket;
      /** Called when a request on the connection has been authenticated. */
      authenticated: () => void;
    };

export type ServerParts = {
  schema: Schema;
  /** The registry of a resource; undefined for a resource that the server does not have. */
  servedResource: (resource: Resource) => ServedResource | undefined;
  /** By group resource and subresource, such as `pods/log` and `deployments.apps/scale`. */
  subresources: ReadonlyMap<string, SubresourceHandler>;
  documents: PathDocuments;
  /** The user of a request over TLS; undefined if it has no credentials. Throws 401 for wrong ones. */
  authenticate: (request: { tlsSocket: TLSSocket; headers: IncomingHttpHeaders }) => Promise<UserInfo | undefined>;
  /** The user in whose name a request is made; undefined if it names none. Throws 403 if that is not allowed. */
  impersonate: (rawHeaders: readonly string[], attributes: AuthorizationAttributes) => UserInfo | undefined;
  authorizer: Authorizer;
  /** Shared by all watches. */
  encoder: EventEncoder;
  logger: Logger;
  now: () => number;
  /** Default: those of `InFlight`. */
  limits?: InFlightLimits;
};

/** An authorized request for objects of a resource. */
export type ResourceRequest = {
  exchange: HttpExchange;
  writer: ResponseWriter;
  info: RequestInfo;
  user: UserInfo;
  resource: Resource;
  served: ServedResource;
  parts: ServerParts;
};
