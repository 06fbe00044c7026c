/** Discovery for kubectl and other clients: groups, kinds, a minimal OpenAPI document, the version. */
import type { JsonObject } from './json.ts';
import { groupsAndVersions } from './request-info.ts';
import { apiVersionOf, type ResourceKind } from './resource-kinds.ts';

export const VERSION_ANSWER = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.2',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-06-01T00:00:00Z',
  goVersion: 'go1.26',
  compiler: 'gc',
  platform: 'linux/amd64',
};

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS: Record<string, string[]> = {
  binding: ['create'],
  eviction: ['create'],
  token: ['create'],
  log: ['get'],
  finalize: ['update'],
  ...Object.fromEntries(['exec', 'attach', 'portforward', 'proxy'].map((name) => [name, ['create', 'get']])),
};
/** Kinds of the bodies of subresources, if they differ from the resource's kind. */
const SUBRESOURCE_KINDS: Record<string, { group: string; version: string; kind: string }> = {
  binding: { group: '', version: 'v1', kind: 'Binding' },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
};

export const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const verbsOf = ({ review }: ResourceKind) => (review ? ['create'] : VERBS);
const subresourceVerbs = (name: string) => SUBRESOURCE_VERBS[name] ?? ['get', 'patch', 'update'];

/** `/api` or `/apis` in one response for all groups. */
export function aggregatedGroups(isCore: boolean): JsonObject {
  const chosen = groupsAndVersions().filter(({ group }) => (group === '') === isCore);
  const items = chosen.map(({ group, version, kinds }) => ({
    metadata: { name: group, creationTimestamp: null },
    versions: [{ version, resources: kinds.map(aggregatedResource), freshness: 'Current' }],
  }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

function aggregatedResource(kind: ResourceKind): JsonObject {
  const { group, version } = kind;
  const subresources = kind.subresources.map((subresource) => ({
    subresource,
    responseKind: SUBRESOURCE_KINDS[subresource] ?? { group, version, kind: kind.kind },
    verbs: subresourceVerbs(subresource),
  }));
  return {
    resource: kind.plural,
    responseKind: { group, version, kind: kind.kind },
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

export const coreVersions = (): JsonObject => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [],
});

export function groupList(): JsonObject {
  const groups = groupsAndVersions()
    .filter(({ group }) => group !== '')
    .map(({ group, version }) => {
      const one = { groupVersion: `${group}/${version}`, version };
      return { name: group, versions: [one], preferredVersion: one };
    });
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** Paths like `/api/v1`; undefined for an unknown group. */
export function resourceList(group: string, version: string): JsonObject | undefined {
  const found = groupsAndVersions().find((one) => one.group === group && one.version === version);
  if (found === undefined) return undefined;
  const resources = found.kinds.flatMap((kind) => [
    {
      name: kind.plural,
      singularName: kind.singular,
      namespaced: kind.namespaced,
      kind: kind.kind,
      verbs: verbsOf(kind),
      ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    },
    ...kind.subresources.map((name) => subresourceEntry(kind, name)),
  ]);
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersionOf({ group, version }), resources };
}

function subresourceEntry(kind: ResourceKind, name: string): JsonObject {
  const other = SUBRESOURCE_KINDS[name];
  return {
    name: `${kind.plural}/${name}`,
    singularName: '',
    namespaced: kind.namespaced,
    ...(other === undefined ? {} : { group: other.group, version: other.version }),
    kind: other?.kind ?? kind.kind,
    verbs: subresourceVerbs(name),
  };
}

const pathOf = (group: string, version: string) => (group === '' ? `api/${version}` : `apis/${group}/${version}`);

/** The index of the OpenAPI documents. */
export function openApiIndex(): JsonObject {
  const paths = groupsAndVersions().map(({ group, version }) => {
    const path = pathOf(group, version);
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=1` }];
  });
  return { paths: Object.fromEntries(paths) };
}

/** The minimum that clients check before they apply: which kinds support patches, and that the server validates fields. */
export function openApiDocument(path: string): JsonObject | undefined {
  const found = groupsAndVersions().find(({ group, version }) => pathOf(group, version) === path);
  if (found === undefined) return undefined;
  const { group, version } = found;
  const paths = found.kinds.map((kind) => [
    `/${path}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}/{name}`,
    {
      patch: {
        'x-kubernetes-group-version-kind': { group, version, kind: kind.kind },
        parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
        responses: { 200: { description: 'OK' } },
      },
    },
  ]);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: VERSION_ANSWER.gitVersion },
    paths: Object.fromEntries(paths),
  };
}
