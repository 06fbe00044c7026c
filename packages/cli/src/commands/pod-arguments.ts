import { PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { NodeClient } from '../client/node-client.ts';
import { podName } from '../client/object-names.ts';

/** kubectl's annotation for a pod's default container. */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** Gets the pod named by an argument: `web` or `pod/web`. */
export function findPod(client: NodeClient, argument: string, namespace: string): Promise<Pod> {
  return client.pod(namespace, podName(argument));
}

/**
 * Chooses the container for a command: `wanted` if given, otherwise the one in the pod's annotation, otherwise the first. If there are
 * several, `note` says which one was chosen. Throws `not_found` if the pod has no such container.
 */
export function chooseContainer(pod: Pod, wanted: string | undefined): { name: string; note?: string } {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const all = [...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name);
  const listed = [
    ...containers.map(({ name }) => name),
    ...initContainers.map(({ name }) => `${name} (init)`),
    ...ephemeralContainers.map(({ name }) => `${name} (ephem)`),
  ].join(', ');
  if (wanted !== undefined) {
    if (all.includes(wanted)) return { name: wanted };
    const message = `pod ${pod.metadata.name} has no container ${wanted}; it has ${listed}`;
    throw new PodwrightError('not_found', message);
  }
  const annotated = pod.metadata.annotations?.[DEFAULT_CONTAINER];
  if (annotated !== undefined && all.includes(annotated)) return { name: annotated };
  const name = containers[0]!.name;
  return all.length === 1 ? { name } : { name, note: `Defaulted container "${name}" out of: ${listed}` };
}
