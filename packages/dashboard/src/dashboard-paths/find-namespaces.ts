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
  const { areListed, names } = await candidatesOf(api, calls, signal);
  const allowed: string[] = [];
  for await (const some of allowedAmong(names, calls, signal)) allowed.push(...some);
  return { areListed, names: allowed };
}

/** Returns the first of the namespaces that `findNamespaces` finds; `undefined` if there is none. */
export async function firstNamespace(
  api: ApiServer,
  calls: JsonCalls,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { names } = await candidatesOf(api, calls, signal);
  for await (const [first] of allowedAmong(names, calls, signal)) if (first !== undefined) return first;
  return undefined;
}

async function candidatesOf(api: ApiServer, calls: JsonCalls, signal: AbortSignal): Promise<Namespaces> {
  const list = await unlessForbidden(calls.get(`/api/v1/namespaces?limit=${MAX_NAMESPACES}`, signal));
  if (list === undefined) return { areListed: false, names: [...new Set([api.namespace, 'default'])] };
  return { areListed: true, names: namesOf(list.items) };
}

/** Reviews the user's access to several namespaces at a time, and yields those of each time in which the user may list pods. */
async function* allowedAmong(names: readonly string[], calls: JsonCalls, signal: AbortSignal) {
  for (let index = 0; index < names.length; index += NAMESPACE_REVIEWS) {
    const some = names.slice(index, index + NAMESPACE_REVIEWS);
    const allowed = await Promise.all(some.map((namespace) => isAllowed(calls, { ...LIST_PODS, namespace }, signal)));
    yield some.filter((_name, at) => allowed[at]);
  }
}

function namesOf(items: unknown): string[] {
  if (!Array.isArray(items)) return [];
  return (items as { metadata?: { name?: unknown } }[]).flatMap(({ metadata }) =>
    typeof metadata?.name === 'string' ? [metadata.name] : [],
  );
}
