/** The attributes of a request for a SubjectAccessReview (upstream: pkg/kubelet/server/auth.go). */

export type RequestAttributes = {
  /** The API verb; '' for an HTTP method that maps to no verb. */
  verb: string;
  /** Subresources of `nodes`; contains at least one. Access to any of them suffices. */
  subresources: string[];
};

const VERBS: Record<string, string> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Paths with a fine-grained subresource. Access to that subresource or to `proxy` suffices (KubeletFineGrainedAuthz). */
const FINE = [
  ['/pods', 'pods'],
  ['/runningpods', 'pods'],
  ['/healthz', 'healthz'],
  ['/configz', 'configz'],
] as const;

/** Paths with a subresource of their own, for which access to `proxy` does not suffice. */
const OWN = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/checkpoint', 'checkpoint'],
  ['/statusz', 'statusz'],
  ['/flagz', 'configz'],
] as const;

/**
 * Returns a request's attributes. `path` is decoded and contains no query string; it is `undefined` if the request target is not a path.
 * Pure.
 */
export function requestAttributes(method: string | undefined, path: string | undefined): RequestAttributes {
  const verb = VERBS[method ?? ''] ?? '';
  const below = ([root]: readonly [string, string]) => path === root || path?.startsWith(`${root}/`);
  const own = OWN.find(below)?.[1];
  if (own !== undefined) return { verb, subresources: [own] };
  return { verb, subresources: [...(FINE.find(below)?.slice(1) ?? []), 'proxy'] };
}
