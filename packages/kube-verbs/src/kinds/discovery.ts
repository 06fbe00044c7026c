import { PodwrightError } from '@podwright/base';
import type { ApiPort } from '../api-port.ts';
import type { ResourceKind } from './resource-kind.ts';

/** Media type of a document listing all groups and their resources (aggregated discovery, stable since Kubernetes 1.30). */
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** Servers written in Go send empty lists as null. */
type List<T> = T[] | null;
type DiscoveredVersion = { version: string; resources?: List<DiscoveredResource> };
type DiscoveredResource = {
  resource: string;
  responseKind?: { group?: string; version?: string; kind: string };
  scope?: 'Namespaced' | 'Cluster';
  singularResource?: string;
  verbs?: List<string>;
  shortNames?: List<string>;
  categories?: List<string>;
  subresources?: List<{ subresource: string }>;
};
type GroupList = { items?: List<{ metadata?: { name?: string }; versions?: List<DiscoveredVersion> }> };

/** Reads the kinds served by the API server. The core group comes first; the versions of each group are in order of preference. */
export async function discoverKinds(api: ApiPort, signal?: AbortSignal): Promise<ResourceKind[]> {
  const read = (path: string) => api.call({ method: 'GET', path, accept: AGGREGATED, signal });
  const documents = await Promise.all([read('/api'), read('/apis')]);
  return documents.flatMap((document) => kindsOf(document as GroupList));
}

/** Returns the kinds of a discovery document whose objects can be read or listed. */
export function kindsOf({ items }: GroupList): ResourceKind[] {
  if (items === undefined)
    throw new PodwrightError('unimplemented', 'read the kinds of the API server: it has no aggregated discovery');
  return (items ?? []).flatMap(({ metadata, versions }) =>
    (versions ?? []).flatMap(({ version, resources }) =>
      (resources ?? [])
        .filter(({ verbs }) => verbs?.includes('get') || verbs?.includes('list'))
        .map((resource) => kindOf(resource, { group: metadata?.name ?? '', version })),
    ),
  );
}

function kindOf(resource: DiscoveredResource, place: { group: string; version: string }): ResourceKind {
  const { resource: plural, responseKind, singularResource, verbs, shortNames, categories } = resource;
  const kind = responseKind?.kind ?? plural;
  return {
    ...place,
    kind,
    plural,
    singular: singularResource || kind.toLowerCase(),
    short: shortNames ?? [],
    categories: categories ?? [],
    namespaced: resource.scope !== 'Cluster',
    verbs: verbs ?? [],
    subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
  };
}
