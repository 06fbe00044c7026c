/** Discovery of groups, versions and resources. Documents are built on demand because requests are rare. */

import { methodNotAllowed, pageNotFound } from '@podwright/api-machinery';
import { apiVersionOf, type Resource, type Schema } from '@podwright/kube-schema';
import { type PathRequest, type PathResponse, unknownPath } from '../http-answer.ts';
import { aggregatedDiscovery } from './aggregated-discovery.ts';
import { acceptedAggregation, aggregatedResponse, documentResponse } from './document-response.ts';
import { type ApiGroup, type ExtensionVersion, groupsOf, inLegacyOrder } from './group-versions.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy-discovery.ts';

export type DiscoveryOptions = {
  schema: Schema;
  /** The resources that the server implements. */
  resources: readonly Resource[];
  /** The group versions of extension API servers. Default: none. */
  extensions?: readonly ExtensionVersion[] | undefined;
  /** Host and port (HOST:PORT) at which clients reach the server. */
  serverAddress: string;
};

/** Serves discovery. Immutable: the server creates a new instance when its resources change. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #groups: readonly ApiGroup[];

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#groups = groupsOf(options.resources, options.extensions);
  }

  /** The paths of all discovery documents, which the document at `/` lists. */
  get paths(): string[] {
    const ofGroup = ({ name, versions }: ApiGroup) => [
      ...(name === '' ? [] : [`/apis/${name}`]),
      ...versions.map((one) => `${name === '' ? '/api' : '/apis'}/${apiVersionOf(one)}`),
    ];
    return ['/api', '/apis', '/apis/', ...this.#groups.flatMap(ofGroup)];
  }

  /** Returns `undefined` for non-discovery paths. Throws a 405 or 406 error, or 404 if a known group lacks the requested version. */
  async respond(request: PathRequest): Promise<PathResponse | undefined> {
    const [root, ...names] = request.path.replace(/\/$/, '').split('/').slice(1);
    const isCore = root === 'api';
    if (!(isCore || root === 'apis') || names.length > (isCore ? 1 : 2)) return undefined;
    const groupName = isCore ? '' : names.shift();
    if (groupName === undefined || (isCore && names.length === 0)) return this.#root(request, isCore);
    const group = this.#groups.find(({ name }) => name === groupName);
    if (group === undefined || (!isCore && group.name === '')) return unknownPath();
    const document = this.#below(group, names[0]);
    if (document === undefined) return unknownPath();
    checkMethod(request);
    return documentResponse(this.#options.schema, request, document);
  }

  /** Returns the response to a request for a resource that the server does not have. Throws a 404 error if the group is built in. */
  unknownResource(group: string): PathResponse {
    const known = this.#groups.find(({ name }) => name === group);
    if (known !== undefined && !isCustom(known)) throw pageNotFound();
    return unknownPath();
  }

  async #root(request: PathRequest, isCore: boolean): Promise<PathResponse> {
    checkMethod(request);
    const { schema, serverAddress } = this.#options;
    const groups = this.#groups.filter(({ name }) => (name === '') === isCore);
    const version = acceptedAggregation(request);
    if (version !== undefined) return aggregatedResponse(schema, request, aggregatedDiscovery(groups, version));
    const core = groups[0] ?? { name: '', versions: [] };
    return documentResponse(
      schema,
      request,
      isCore ? apiVersions(core, serverAddress) : apiGroupList(inLegacyOrder(groups)),
    );
  }

  #below(group: ApiGroup, version: string | undefined) {
    if (version === undefined) return apiGroup(group);
    const found = group.versions.find((one) => one.version === version && one.extension === undefined);
    if (found !== undefined) return apiResourceList(group, found); // an extension API server has its own lists
    if (!isCustom(group)) throw pageNotFound();
    return undefined;
  }
}

const isCustom = ({ versions }: ApiGroup): boolean =>
  versions.every(({ resources }) => resources.every((one) => one.isCustom));

function checkMethod({ method }: PathRequest): void {
  if (method !== 'GET') throw methodNotAllowed();
}
