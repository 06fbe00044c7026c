import { PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { IdRange, UserNamespaces } from '../container/user-namespaces.ts';
import type { RuntimeFeatures } from './runtime-features.ts';

export type PodUsersDependencies = { features: RuntimeFeatures; userNamespaces: UserNamespaces };

/**
 * Returns the ID range of the pod's own user namespace; `undefined` for pods in the host's user namespace. Rejects with
 * `failed_precondition` if the runtime handler does not support user namespaces.
 */
export async function podUsers(
  { features, userNamespaces }: PodUsersDependencies,
  { pod, handler: handlerOf }: { pod: Pod; handler: () => string },
  signal?: AbortSignal,
): Promise<IdRange | undefined> {
  if (pod.spec.hostUsers !== false) return undefined;
  const handler = handlerOf();
  const supported = await features.ofHandler(handler, signal);
  if (typeof supported === 'object' && supported.userNamespaces) return userNamespaces.rangeOf(pod.metadata.uid);
  const who = handler === '' ? 'runtime does' : `RuntimeClass handler "${handler}" does`;
  const why = supported === 'unknown' ? `: the handler "${handler}" is not known` : '';
  throw new PodwrightError(
    'failed_precondition',
    `can't set \`spec.hostUsers: false\`, ${who} not support user namespaces${why}`,
  );
}
