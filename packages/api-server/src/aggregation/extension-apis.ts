/** Routes requests to extension API servers. The code that forwards them is loaded on the first such request. */
import type { ObjectStore } from '@podwright/api-machinery';
import type { RequestInfo } from '../server/request-info.ts';
import type { AuthorizedRequest, ExtensionServers } from '../server/server-parts.ts';
import type { ExtensionParts } from './extension-backend.ts';
import type { ExtensionTarget } from './proxy-request.ts';
import type { GroupVersionName } from './registration.ts';
import { Registrations } from './registrations.ts';

const OPENAPI_PREFIX = '/openapi/v3/';

type TargetInfo = Pick<RequestInfo, 'isResourceRequest' | 'apiGroup' | 'apiVersion' | 'path'>;

export class ExtensionApis implements ExtensionServers {
  readonly registrations: Registrations;
  readonly #parts: ExtensionParts;
  #module: Promise<typeof import('./proxy-request.ts')> | undefined;

  constructor(parts: ExtensionParts & { store: ObjectStore }) {
    this.#parts = parts;
    this.registrations = new Registrations(parts.store);
  }

  handlerOf(info: TargetInfo): ((request: AuthorizedRequest) => Promise<void>) | undefined {
    const target = this.#target(info);
    return target && ((request) => this.#proxy(request, target));
  }

  hasGroup(group: string): boolean {
    return this.registrations.hasGroup(group);
  }

  #target(info: TargetInfo): ExtensionTarget | undefined {
    const name = groupVersionOf(info);
    if (name !== undefined) return this.registrations.find(name);
    const group = groupOf(info);
    return group === undefined ? undefined : this.registrations.findInGroup(group);
  }

  async #proxy(request: AuthorizedRequest, target: ExtensionTarget): Promise<void> {
    this.#module ??= import('./proxy-request.ts'); // kept, because each `import` resolves the module again
    const { proxyRequest } = await this.#module;
    return proxyRequest(request, target, this.#parts);
  }
}

/** Returns the group version of a request for API objects, for a group version's discovery, or for its OpenAPI document. */
function groupVersionOf({ isResourceRequest, apiGroup, apiVersion, path }: TargetInfo): GroupVersionName | undefined {
  if (isResourceRequest) return { group: apiGroup, version: apiVersion };
  const below = path.startsWith(OPENAPI_PREFIX) ? path.slice(OPENAPI_PREFIX.length) : path;
  const [root, group, version, ...more] = below.replaceAll(/^\/+|\/+$/g, '').split('/');
  if (root !== 'apis' || group === undefined || version === undefined || more.length > 0) return undefined;
  return { group, version };
}

/** Returns the group of a request for the OpenAPI document that describes the discovery of a group. */
function groupOf({ isResourceRequest, path }: TargetInfo): string | undefined {
  const prefix = `${OPENAPI_PREFIX}apis/`;
  return isResourceRequest || !path.startsWith(prefix) ? undefined : path.slice(prefix.length);
}
