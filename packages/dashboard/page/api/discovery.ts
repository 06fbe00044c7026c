/** Discovery: the resources of the API server. */
import type { Resource } from './objects.ts';
import { call } from './request.ts';

/** Accepts aggregated discovery or, from a server that does not support it, the list of groups. */
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;q=0.5';

type Aggregated = {
  items?: {
    metadata: { name?: string };
    versions?:
      | {
          version: string;
          resources?:
            | {
                resource: string;
                responseKind?: { kind?: string };
                scope?: string;
                verbs?: string[] | null;
              }[]
            | null;
        }[]
      | null;
  }[];
  groups?: { name: string; preferredVersion?: { version: string } }[];
};

type ResourceList = {
  resources?: { name: string; kind: string; namespaced: boolean; verbs?: string[] | null }[] | null;
};

/** Returns the resources that support the `list` verb, each in its group's preferred version. */
export async function discover(signal: AbortSignal): Promise<Resource[]> {
  const [core, groups] = await Promise.all([
    call<Aggregated>('api', { accept: AGGREGATED, signal }),
    call<Aggregated>('apis', { accept: AGGREGATED, signal }),
  ]);
  if (groups.items !== undefined) return resourcesOf([...(core.items ?? []), ...groups.items]);
  const versions = (groups.groups ?? []).map(({ name, preferredVersion }) => [name, preferredVersion?.version ?? 'v1']);
  const lists = [['', 'v1'], ...versions].map(([group, version]) => resourcesOfVersion(group!, version!, signal));
  return (await Promise.all(lists)).flat();
}

/** Returns the resources in aggregated discovery that support the `list` verb. A group's preferred version comes first. */
export function resourcesOf(groups: NonNullable<Aggregated['items']>): Resource[] {
  return groups.flatMap(({ metadata, versions }) => {
    const seen = new Set<string>();
    return (versions ?? []).flatMap(({ version, resources }) =>
      (resources ?? []).flatMap(({ resource: plural, responseKind, scope, verbs }) => {
        if (seen.has(plural) || !verbs?.includes('list')) return [];
        seen.add(plural);
        const kind = responseKind?.kind ?? plural;
        return [{ group: metadata.name ?? '', version, plural, kind, namespaced: scope === 'Namespaced' }];
      }),
    );
  });
}

/** Returns the resources of a group version. Returns none if it cannot be read, for example because an aggregated API server is down. */
async function resourcesOfVersion(group: string, version: string, signal: AbortSignal): Promise<Resource[]> {
  const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
  try {
    const { resources } = await call<ResourceList>(path, { signal });
    return (resources ?? [])
      .filter(({ name, verbs }) => !name.includes('/') && verbs?.includes('list'))
      .map(({ name, kind, namespaced }) => ({ group, version, plural: name, kind, namespaced }));
  } catch (error) {
    if (signal.aborted) throw error;
    return [];
  }
}
