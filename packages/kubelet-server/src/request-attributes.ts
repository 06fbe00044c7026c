/** What a request of the API is to the cluster's authorizer (upstream: pkg/kubelet/server/auth.go). */

export type RequestAttributes = {
  /** '' for methods that no verb stands for. */
  verb: string;
  /** Subresources of `nodes`: who may use one of them may make the request; at least one. */
  subresources: string[];
};

const VERBS: Record<string, string> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Finer ones, beside `proxy`. */
const FINE = [
  ['/pods', 'pods'],
  ['/runningpods', 'pods'],
  ['/healthz', 'healthz'],
  ['/configz', 'configz'],
] as const;

/** Those that `proxy` is not enough for. */
const OWN = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/checkpoint', 'checkpoint'],
  ['/statusz', 'statusz'],
  ['/flagz', 'configz'],
] as const;

/** Of a decoded path without its query; `undefined` for a target that is no path. Pure. */
export function requestAttributes(method: string | undefined, path: string | undefined): RequestAttributes {
  const verb = VERBS[method ?? ''] ?? '';
  const below = ([root]: readonly [string, string]) => path === root || path?.startsWith(`${root}/`);
  const own = OWN.find(below)?.[1];
  if (own !== undefined) return { verb, subresources: [own] };
  return { verb, subresources: [...(FINE.find(below)?.slice(1) ?? []), 'proxy'] };
}
