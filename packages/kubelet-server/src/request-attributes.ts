/** Maps requests of the API to the attributes of a SubjectAccessReview (upstream: pkg/kubelet/server/auth.go). */

export type RequestAttributes = {
  /** '' for methods without a verb. */
  verb: string;
  /** Subresources of `nodes`, at least one: access to any of them allows the request. */
  subresources: string[];
};

const VERBS: Record<string, string> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Fine-grained subresources: either these or `proxy` allow the request (KubeletFineGrainedAuthz). */
const FINE = [
  ['/pods', 'pods'],
  ['/runningpods', 'pods'],
  ['/healthz', 'healthz'],
  ['/configz', 'configz'],
] as const;

/** Paths with their own subresource, which `proxy` does not cover. */
const OWN = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/checkpoint', 'checkpoint'],
  ['/statusz', 'statusz'],
  ['/flagz', 'configz'],
] as const;

/** `path` is decoded and without its query; `undefined` if the request target is not a path. Pure. */
export function requestAttributes(method: string | undefined, path: string | undefined): RequestAttributes {
  const verb = VERBS[method ?? ''] ?? '';
  const below = ([root]: readonly [string, string]) => path === root || path?.startsWith(`${root}/`);
  const own = OWN.find(below)?.[1];
  if (own !== undefined) return { verb, subresources: [own] };
  return { verb, subresources: [...(FINE.find(below)?.slice(1) ?? []), 'proxy'] };
}
