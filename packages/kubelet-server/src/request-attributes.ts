/** Maps requests to the attributes of SubjectAccessReviews (upstream: pkg/kubelet/server/auth.go). */

export type RequestAttributes = {
  /** '' for a method that has no verb. */
  verb: string;
  /** Subresources of `nodes`, at least one. Access to one of them suffices. */
  subresources: string[];
};

const VERBS: Record<string, string> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Paths with fine-grained subresources. Access to the subresource or to `proxy` suffices (KubeletFineGrainedAuthz). */
const FINE = [
  ['/pods', 'pods'],
  ['/runningpods', 'pods'],
  ['/healthz', 'healthz'],
  ['/configz', 'configz'],
] as const;

/** Paths with a subresource of their own; access to `proxy` does not suffice. */
const OWN = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/checkpoint', 'checkpoint'],
  ['/statusz', 'statusz'],
  ['/flagz', 'configz'],
] as const;

/**
 * Returns the attributes of a request. `path` is decoded and has no query; it is `undefined` if the request target is not a
 * path. Pure.
 */
export function requestAttributes(method: string | undefined, path: string | undefined): RequestAttributes {
  const verb = VERBS[method ?? ''] ?? '';
  const below = ([root]: readonly [string, string]) => path === root || path?.startsWith(`${root}/`);
  const own = OWN.find(below)?.[1];
  if (own !== undefined) return { verb, subresources: [own] };
  return { verb, subresources: [...(FINE.find(below)?.slice(1) ?? []), 'proxy'] };
}
