/** Serves non-resource requests: discovery, OpenAPI documents, health checks, version and metrics. */

import { methodNotAllowed } from '@podwright/api-machinery';
import type { Resource, Schema } from '@podwright/kube-schema';
import { Discovery } from './discovery/discovery.ts';
import { indentedJson } from './discovery/document-response.ts';
import type { ExtensionVersion } from './discovery/group-versions.ts';
import type { Health } from './discovery/health.ts';
import { GIT_VERSION, versionInfo } from './discovery/version-info.ts';
import { type PathRequest, type PathResponse, unknownPath } from './http-answer.ts';
import { OpenApi } from './openapi/openapi.ts';

export type ApiPathsOptions = {
  schema: Schema;
  /** The resources that the server implements. No others are advertised. */
  resources: readonly Resource[];
  /** Resources with kinds that are missing from the schema. They are listed in discovery but not in the OpenAPI documents. */
  computed?: readonly Resource[];
  /** The group versions of extension API servers. Default: none. */
  extensions?: readonly ExtensionVersion[];
  /** Host and port (HOST:PORT) at which clients reach the server. */
  serverAddress: string;
  health: Health;
  /** Returns the body of `/metrics`. If unset, the path is not served. */
  metrics?: () => string | Promise<string>;
  /** Other paths of the server, which the document at `/` lists as well. */
  otherPaths?: readonly string[];
};

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Serves the non-resource paths. Immutable: the server creates a new instance when its resources change. */
export class ApiPaths {
  readonly #options: ApiPathsOptions;
  readonly #discovery: Discovery;
  readonly #openApi: OpenApi;

  constructor(options: ApiPathsOptions) {
    this.#options = options;
    const { resources, computed = [] } = options;
    this.#discovery = new Discovery({ ...options, resources: [...resources, ...computed] });
    this.#openApi = new OpenApi({ ...options, version: GIT_VERSION });
  }

  /** Returns 404 for unknown paths. Throws an `ApiError` for requests that are rejected with a Status. */
  async respond(request: PathRequest): Promise<PathResponse> {
    return (
      (await this.#single(request)) ??
      (await this.#discovery.respond(request)) ??
      (await this.#openApi.respond(request)) ??
      (await this.#options.health.respond(request)) ??
      unknownPath()
    );
  }

  /** Returns the response to a request for a resource that the server does not have. Throws a 404 error if the group exists. */
  unknownResource(group: string): PathResponse {
    return this.#discovery.unknownResource(group);
  }

  async #single({ path, method }: PathRequest): Promise<PathResponse | undefined> {
    if (path === '/' || path === '/index.html') return indentedJson({ paths: this.#paths() });
    if (path === '/metrics') return this.#metrics();
    if (path !== '/version' && path !== '/version/') return undefined;
    if (method !== 'GET') throw methodNotAllowed();
    return indentedJson(versionInfo());
  }

  async #metrics(): Promise<PathResponse | undefined> {
    const { metrics } = this.#options;
    if (metrics === undefined) return undefined;
    return { status: 200, headers: { 'content-type': METRICS_TYPE }, body: await metrics() };
  }

  #paths(): string[] {
    const { health, metrics, otherPaths = [] } = this.#options;
    const own = ['/version', ...(metrics === undefined ? [] : ['/metrics'])];
    return [...own, ...this.#discovery.paths, ...this.#openApi.paths, ...health.paths, ...otherPaths].sort();
  }
}
