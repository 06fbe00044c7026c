import { didYouMean, isNotFound, PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kubelet';
import type { NodeClient } from '../client/node-client.ts';
import { podName } from '../client/object-names.ts';

/** What kubectl reads for the container that commands take when none is named. */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** The pod that an argument names. `not_found` says in which namespace one of this name is, or which name was probably meant. */
export async function findPod(client: NodeClient, argument: string, namespace: string): Promise<Pod> {
  const name = podName(argument);
  try {
    return await client.pod(namespace, name);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new PodwrightError(
      'not_found',
      `there is no pod ${name} in namespace ${namespace}${await hint(client, name)}`,
    );
  }
}

async function hint(client: NodeClient, name: string): Promise<string> {
  const pods = await client.pods();
  const elsewhere = pods.find(({ metadata }) => metadata.name === name);
  if (elsewhere !== undefined)
    return `; ${elsewhere.metadata.namespace} has one: add -n ${elsewhere.metadata.namespace}`;
  return didYouMean(
    name,
    pods.map(({ metadata }) => metadata.name),
  );
}

/**
 * The container that a command is for: the one that is named, else the one that the pod's annotation names, else the first.
 * `note` tells which was taken of several. `not_found` if the pod has none of that name.
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
