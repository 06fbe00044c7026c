/** Looks up the objects on which a verb acts, for verbs that need a Kubernetes API. */
import { PodwrightError } from '@podwright/base';
import { type ApiPort, discoverKinds, type ResourceKind, readTargets, type Target } from '@podwright/kube-verbs';
import { apiPort } from './known-kinds.ts';
import { NodeClient } from './node-client.ts';
import { API_HINT, parseObjects } from './object-names.ts';

export type TargetOptions = { namespace: string; selector?: string; all?: boolean };

/** Returns a client for the node's Kubernetes API. Rejects with `failed_precondition` if the node has none. */
export async function requireApi(socketPath: string, verb: string): Promise<ApiPort> {
  const client = new NodeClient(socketPath);
  if ((await client.node()).kubernetesApi) return apiPort(client.http);
  throw new PodwrightError('failed_precondition', `${verb}: this node has no Kubernetes API; ${API_HINT}`);
}

/**
 * Reads the objects that a verb acts on: `TYPE NAME…`, `TYPE/NAME…`, or `TYPE` with a selector; with `wholeKinds`, also `TYPE` alone.
 * Rejects with `not_found` if there are none.
 */
export async function apiTargets(
  api: ApiPort,
  words: readonly string[],
  { verb, wholeKinds = false, ...options }: TargetOptions & { verb: string; wholeKinds?: boolean },
): Promise<Target[]> {
  const { kinds, named } = parseObjects([...words], { known: await discoverKinds(api) });
  if (named.length === 0 && options.selector === undefined && !options.all && !wholeKinds)
    throw new PodwrightError(
      'invalid_argument',
      `${verb}: name objects, as TYPE/NAME, or select them with -l or --all`,
    );
  if (named.length > 0 && (options.selector !== undefined || options.all))
    throw new PodwrightError('invalid_argument', `${verb}: names cannot be combined with -l or --all`);
  const query = { kinds: kinds as ResourceKind[], named: named as { kind: ResourceKind; name: string }[], ...options };
  const targets = await readTargets(api, query);
  if (targets.length > 0) return targets;
  throw new PodwrightError(
    'not_found',
    `${verb}: no ${kinds.map(({ plural }) => plural).join(', ')} in the namespace ${options.namespace} match`,
  );
}
