/** Legacy discovery, with one document per group version: `/api`, `/apis` and the paths under them (apiserver, endpoints/discovery). */
import { apiVersionOf, type JsonObject, type Resource, type Subresource } from '@podwright/kube-schema';
import type { ApiGroup, GroupVersion } from './group-versions.ts';
import { storageVersionHash } from './storage-version.ts';

/** Returns the group's versions and the address at which clients reach the server. `serverAddress`: HOST:PORT. */
export const apiVersions = ({ versions }: ApiGroup, serverAddress: string): JsonObject => ({
  kind: 'APIVersions',
  versions: versions.map(({ version }) => version),
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
});

export const apiGroupList = (groups: readonly ApiGroup[]): JsonObject => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.filter(({ name }) => name !== '').map(groupEntry),
});

export const apiGroup = (group: ApiGroup): JsonObject => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) });

function groupEntry({ name, versions }: ApiGroup): JsonObject {
  const entries = versions.map((one) => ({ groupVersion: apiVersionOf(one), version: one.version }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

/**
 * Returns the APIResourceList of a group version. The list of the core group has no `apiVersion`, for compatibility with the earliest
 * clients.
 */
export function apiResourceList(group: ApiGroup, groupVersion: GroupVersion): JsonObject {
  return {
    kind: 'APIResourceList',
    ...(group.name === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(groupVersion),
    resources: groupVersion.resources.flatMap((resource) => [
      resourceEntry(group, resource),
      ...subresourcesOf(resource).map(([name, subresource]) => subresourceEntry(resource, name, subresource)),
    ]),
  };
}

function resourceEntry(group: ApiGroup, resource: Resource): JsonObject {
  const { plural, singular, namespaced, kind, verbs, shortNames = [], categories = [] } = resource;
  const hash = storageVersionHash(group, resource);
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(hash === undefined ? {} : { storageVersionHash: hash }),
  };
}

function subresourceEntry(resource: Resource, name: string, subresource: Subresource): JsonObject {
  const { group, version, kind } = responseKind(resource, subresource);
  return {
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...(group === '' ? {} : { group }),
    ...(version === '' ? {} : { version }),
    kind,
    verbs: subresource.verbs,
  };
}

/** Returns the subresources in lexical order, or in their original order for custom resources. */
export const subresourcesOf = ({ subresources = {}, isCustom }: Resource): [string, Subresource][] =>
  isCustom ? Object.entries(subresources) : Object.entries(subresources).sort(([a], [b]) => (a < b ? -1 : 1));

/** Returns the kind of a resource's or subresource's objects. Group and version are '' if they match the resource's. */
export function responseKind(resource: Resource, { group, version, kind }: Subresource) {
  const isOwn = group === resource.group && version === resource.version;
  return isOwn ? { group: '', version: '', kind } : { group, version, kind };
}
