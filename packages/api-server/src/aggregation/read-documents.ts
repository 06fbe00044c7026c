/** Reads the discovery and OpenAPI documents of extension API servers (kube-aggregator, apiserver/handler_discovery.go). */
import { createHash } from 'node:crypto';
import { documentBelow, type ExtensionVersion } from '@podwright/api-documents';
import { isRecord, parseBoundedJson } from '@podwright/base';
import { type JsonObject, objectAt, objectsAt, textAt, textsAt, type UserInfo } from '@podwright/kube-kinds';
import type { Backend } from '../backends/backend.ts';
import { AGGREGATOR } from './availability.ts';
import { askExtension, type ExtensionAnswer } from './extension-backend.ts';
import type { GroupVersionName } from './registration.ts';

export type ReadDocuments = Pick<ExtensionVersion, 'resources' | OpenApiUrl | 'openApiV2'>;

type OpenApiUrl = 'openApiUrl' | 'openApiGroupUrl';

/** The user that reads OpenAPI documents, without administrator rights. */
const READER: UserInfo = { username: 'system:aggregator', groups: [] };

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const AGGREGATED = `${V2},${V2.replace('v=v2', 'v=v2beta1')}`;
const MAX_DISCOVERY_BYTES = 4 << 20;
const MAX_DISCOVERY_MS = 5000;
const MAX_OPENAPI_BYTES = 16 << 20;
const MAX_OPENAPI_MS = 60_000;
/** Maximum number of JSON values in a document. Kubernetes' own OpenAPI v2 document has 90,000. */
const MAX_VALUES = 300_000;
/** Maximum number of resources in a group version. A group version with more resources is rejected. */
const MAX_RESOURCES = 1000;

/** Reads the documents of a group version. Rejects if there is no discovery document; OpenAPI documents are optional. */
export async function readDocuments(
  name: GroupVersionName,
  backend: Backend,
  signal: AbortSignal,
): Promise<ReadDocuments> {
  const resources =
    (await aggregatedResources(name, backend, signal)) ?? (await legacyResources(name, backend, signal));
  const [v3, v2] = await Promise.allSettled([openApiUrlsOf(name, backend, signal), openApiV2Of(name, backend, signal)]);
  const urls = v3.status === 'fulfilled' ? v3.value : {};
  const openApiV2 = v2.status === 'fulfilled' ? v2.value : undefined;
  signal.throwIfAborted();
  return { resources, ...urls, ...(openApiV2 && { openApiV2 }) };
}

/**
 * Returns the resources of a group version from the extension API server's aggregated discovery; `undefined` if the server does not support
 * it or does not list the group version.
 */
async function aggregatedResources(
  { group, version }: GroupVersionName,
  backend: Backend,
  signal: AbortSignal,
): Promise<JsonObject[] | undefined> {
  const answer = await discovery(backend, '/apis', { accept: AGGREGATED, signal });
  if (answer.status !== 200 || !String(answer.headers['content-type']).includes('as=APIGroupDiscoveryList'))
    return undefined;
  const groups = objectsAt(parsed(answer), 'items').filter((one) => textAt(one, 'metadata', 'name') === group);
  const found = groups.flatMap((one) => objectsAt(one, 'versions')).find((one) => textAt(one, 'version') === version);
  const named = objectsAt(found, 'resources').filter((one) => textAt(one, 'resource') !== '');
  return found && bounded(named).map(entryOf);
}

/**
 * Returns the fields of a resource that aggregated discovery needs. `responseKind` is always set, because its absence would confuse clients
 * older than 1.26.4.
 */
function entryOf(one: JsonObject): JsonObject {
  const subresources = objectsAt(one, 'subresources').map((other) => ({
    subresource: textAt(other, 'subresource'),
    responseKind: kindOf(objectAt(other, 'responseKind') ?? {}),
    ...given('acceptedTypes', objectsAt(other, 'acceptedTypes').map(kindOf)),
    verbs: textsAt(other, 'verbs'),
  }));
  return {
    resource: textAt(one, 'resource'),
    responseKind: kindOf(objectAt(one, 'responseKind') ?? {}),
    scope: textAt(one, 'scope'),
    singularResource: textAt(one, 'singularResource'),
    verbs: textsAt(one, 'verbs'),
    ...listsOf(one),
    ...given('subresources', subresources),
  };
}

const listsOf = (one: JsonObject): JsonObject => ({
  ...given('shortNames', textsAt(one, 'shortNames')),
  ...given('categories', textsAt(one, 'categories')),
});

const given = (name: string, list: readonly unknown[]): JsonObject => (list.length > 0 ? { [name]: list } : {});

/**
 * Reads the unaggregated resource list of an older server and converts it (apiserver, endpoints/groupversion.go,
 * ConvertGroupVersionIntoToDiscovery).
 */
async function legacyResources(
  { group, version }: GroupVersionName,
  backend: Backend,
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const path = `/apis/${group}/${version}`;
  const answer = await discovery(backend, path, { accept: 'application/json', signal });
  if (answer.status !== 200) throw new Error(`failed to download legacy discovery for ${path}: ${answer.status}`);
  const listed = bounded(objectsAt(parsed(answer), 'resources'));
  const isSubresource = (one: JsonObject) => textAt(one, 'name').includes('/');
  return listed
    .filter((one) => !isSubresource(one))
    .map((one) => {
      const name = textAt(one, 'name');
      const below = listed.filter((other) => textAt(other, 'name').startsWith(`${name}/`));
      const subresources = below.map((other) => ({
        subresource: textAt(other, 'name').slice(name.length + 1),
        responseKind: kindOf(other),
        verbs: textsAt(other, 'verbs'),
      }));
      return legacyEntry(one, subresources);
    });
}

const legacyEntry = (one: JsonObject, subresources: readonly JsonObject[]): JsonObject => ({
  resource: textAt(one, 'name'),
  responseKind: kindOf(one),
  scope: one.namespaced === true ? 'Namespaced' : 'Cluster',
  singularResource: textAt(one, 'singularName'),
  verbs: textsAt(one, 'verbs'),
  ...listsOf(one),
  ...given('subresources', subresources),
});

const kindOf = (one: JsonObject): JsonObject => ({
  group: textAt(one, 'group'),
  version: textAt(one, 'version'),
  kind: textAt(one, 'kind'),
});

/** Returns the URLs of the OpenAPI v3 documents of a group version and of its group, as far as the extension API server has them. */
async function openApiUrlsOf(
  { group, version }: GroupVersionName,
  backend: Backend,
  signal: AbortSignal,
): Promise<Pick<ExtensionVersion, OpenApiUrl>> {
  const answer = await discovery(backend, '/openapi/v3', { accept: 'application/json', signal });
  const index = answer.status === 200 ? parsed(answer) : {};
  const urlOf = (name: string) => {
    const url = textAt(index, 'paths', name, 'serverRelativeURL');
    const path = `/openapi/v3/${name}`; // another path would lead clients to another document
    return url === path || url.startsWith(`${path}?`) ? url : undefined;
  };
  const openApiUrl = urlOf(`apis/${group}/${version}`);
  const openApiGroupUrl = urlOf(`apis/${group}`);
  return { ...(openApiUrl && { openApiUrl }), ...(openApiGroupUrl && { openApiGroupUrl }) };
}

async function openApiV2Of(
  { group, version }: GroupVersionName,
  backend: Backend,
  signal: AbortSignal,
): Promise<ExtensionVersion['openApiV2']> {
  const headers = { accept: 'application/json' };
  const bounds = { timeoutMs: MAX_OPENAPI_MS, maxBytes: MAX_OPENAPI_BYTES };
  const answer = await askExtension(backend, { path: '/openapi/v2', user: READER, headers, ...bounds, signal });
  if (answer.status !== 200) return undefined;
  const document = documentBelow(parsed(answer), `/apis/${group}/${version}/`);
  const hash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
  return { hash, document };
}

type Asked = { accept: string; signal: AbortSignal };

const discovery = (backend: Backend, path: string, { accept, signal }: Asked): Promise<ExtensionAnswer> =>
  askExtension(backend, {
    ...{ path, user: AGGREGATOR, headers: { accept }, signal },
    ...{ timeoutMs: MAX_DISCOVERY_MS, maxBytes: MAX_DISCOVERY_BYTES },
  });

function parsed({ body }: ExtensionAnswer): JsonObject {
  const value = parseBoundedJson(body, MAX_VALUES);
  return isRecord(value) ? value : {};
}

function bounded(resources: readonly JsonObject[]): readonly JsonObject[] {
  if (resources.length > MAX_RESOURCES) throw new Error(`a group version may have ${MAX_RESOURCES} resources at most`);
  return resources;
}
