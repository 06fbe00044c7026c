/**
 * Aggregated discovery, which returns all groups in a single document (api/apidiscovery). `/api` serves the core group, `/apis` all others.
 */
import type { JsonObject, Resource, Subresource } from '@podwright/kube-schema';
import type { ApiGroup, GroupVersion } from './group-versions.ts';
import { responseKind, subresourcesOf } from './legacy-discovery.ts';

/** Clients older than 1.30 request v2beta1. Both versions have the same content. */
export type AggregatedVersion = 'v2' | 'v2beta1';

export const isAggregatedVersion = (version: string | undefined): version is AggregatedVersion =>
  version === 'v2' || version === 'v2beta1';

export const aggregatedDiscovery = (groups: readonly ApiGroup[], version: AggregatedVersion): JsonObject => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: `apidiscovery.k8s.io/${version}`,
  metadata: {},
  items: groups.map(({ name, versions }) => ({
    metadata: name === '' ? {} : { name },
    versions: versions.map(versionEntry),
  })),
});

function versionEntry({ version, resources, extension }: GroupVersion): JsonObject {
  const entries = extension?.resources ?? resources.map(resourceEntry);
  return {
    version,
    ...(entries.length === 0 ? {} : { resources: entries }),
    freshness: (extension?.isCurrent ?? true) ? 'Current' : 'Stale',
  };
}

function resourceEntry(resource: Resource): JsonObject {
  const { plural, singular, namespaced, verbs, shortNames = [], categories = [] } = resource;
  const subresources = subresourcesOf(resource).map(([name, one]) => subresourceEntry(resource, name, one));
  return {
    resource: plural,
    responseKind: kindOf(resource, resource),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

const subresourceEntry = (resource: Resource, name: string, subresource: Subresource): JsonObject => ({
  subresource: name,
  responseKind: kindOf(resource, subresource),
  verbs: subresource.verbs,
});

/** Returns the `responseKind` of a subresource. Like upstream, always includes the group and version for custom resources. */
const kindOf = (resource: Resource, { group, version, kind }: Subresource) =>
  resource.isCustom ? { group, version, kind } : responseKind(resource, { group, version, kind, verbs: [] });
