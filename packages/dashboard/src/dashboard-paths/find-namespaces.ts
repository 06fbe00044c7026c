import { MAX_NAMESPACES, NAMESPACE_REVIEWS } from '../limits.ts';
import type { ApiServer } from '../upstream/api-server.ts';
import { type JsonCalls, unlessForbidden } from '../upstream/json-calls.ts';
import { isAllowed, LIST_PODS } from './access-reviews.ts';

/** The response to `GET dashboard/namespaces`. The fields are described in README.md. */
type Namespaces = { areListed: boolean; names: string[] };

/**
 * Finds the namespaces in which the user may list pods. If the user may not list namespaces, tries only `default` and the namespace of the
 * kubeconfig's context, because the names of others are unknown.
 */
export async function findNamespaces(api: ApiServer, calls: JsonCalls, signal: AbortSignal): Promise<Namespaces> {
  const list = await unlessForbidden(calls.get(`/api/v1/namespaces?limit=${MAX_NAMESPACES}`, signal));
  const candidates = list === undefined ? [...new Set([api.namespace, 'default'])] : namesOf(list.items);
  const names: string[] = [];
  for (let index = 0; index < candidates.length; index += NAMESPACE_REVIEWS) {
    const some = candidates.slice(index, index + NAMESPACE_REVIEWS);
    const allowed = await Promise.all(some.map((namespace) => isAllowed(calls, { ...LIST_PODS, namespace }, signal)));
    names.push(...some.filter((_name, at) => allowed[at]));
  }
  return { areListed: list !== undefined, names };
}

function namesOf(items: unknown): string[] {
  if (!Array.isArray(items)) return [];
  return (items as { metadata?: { name?: unknown } }[]).flatMap(({ metadata }) =>
    typeof metadata?.name === 'string' ? [metadata.name] : [],
  );
}
