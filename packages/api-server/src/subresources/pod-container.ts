import { badRequest } from '@podwright/api-machinery';
import { type ApiObject, objectsAt, textAt } from '@podwright/kube-kinds';

/**
 * Returns the container that a log or stream request refers to: the requested one or, by default, the only one. Throws 400 if the pod does
 * not have it, or if none is requested and there are several.
 */
export function containerOf(pod: ApiObject, requested: string): string {
  const containers = namesAt(pod, 'containers');
  const all = [...namesAt(pod, 'initContainers'), ...containers, ...namesAt(pod, 'ephemeralContainers')];
  const { name = '' } = pod.metadata;
  if (requested !== '') {
    if (!all.includes(requested)) throw badRequest(`container ${requested} is not valid for pod ${name}`);
    return requested;
  }
  if (containers.length === 1) return containers[0]!;
  const choice = containers.length === 0 ? '' : `, choose one of: [${all.join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${name}${choice}`);
}

const namesAt = (pod: ApiObject, list: string): string[] =>
  objectsAt(pod, 'spec', list).map((container) => textAt(container, 'name'));

export const nodeNameOf = (pod: ApiObject): string => textAt(pod, 'spec', 'nodeName');
