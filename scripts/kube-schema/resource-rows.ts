/** Reads the resources from `resources.json` and adds what discovery reports about them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CATEGORIES, SHORT_NAMES, singularName } from './discovery-names.ts';

type Subresource = { group: string; version: string; kind: string; verbs: string[] };
type Resource = Subresource & { plural: string; namespaced: boolean; subresources: Record<string, Subresource> };

/** A resource in our data (`packages/kube-schema/src/schema/resource.ts`). */
export type ResourceRow = Omit<Resource, 'subresources'> & {
  singular: string;
  shortNames?: string[];
  categories?: string[];
  subresources?: Record<string, Subresource>;
};

export function readResources(directory: string): ResourceRow[] {
  const text = readFileSync(join(directory, 'resources.json'), 'utf8');
  const { resources } = JSON.parse(text) as { resources: Record<string, Resource> };
  return Object.values(resources).map(({ subresources, ...resource }) => {
    const name = `${resource.plural}.${resource.group}`.replace(/\.$/, '');
    const below = Object.entries(subresources).map(([key, one]) => [key, { ...one, verbs: verbsOf(one, key) }]);
    return {
      ...resource,
      singular: singularName(resource.kind),
      verbs: verbsOf(resource, ''),
      shortNames: SHORT_NAMES[name],
      categories: CATEGORIES[name],
      subresources: below.length === 0 ? undefined : Object.fromEntries(below),
    };
  });
}

const VERBS: Record<string, string> = { post: 'create', put: 'update' };
/** RBAC verbs of proxy subresources, which accept any HTTP method. */
const PROXY_VERBS = ['create', 'delete', 'get', 'patch', 'update'];
const STREAM_VERBS = ['create', 'get'];

/**
 * The discovery verbs that correspond to the methods in the OpenAPI document. Every resource that can be listed can be watched, except
 * component statuses.
 */
function verbsOf({ verbs, kind }: Subresource, subresource: string): string[] {
  if (verbs.includes('connect')) return subresource === 'proxy' ? PROXY_VERBS : STREAM_VERBS;
  const named = verbs.map((verb) => VERBS[verb] ?? verb);
  const watch = named.includes('list') && kind !== 'ComponentStatus' ? ['watch'] : [];
  return [...named, ...watch].sort();
}
