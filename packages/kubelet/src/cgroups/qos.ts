import { type Container, containerAmount, inUnits } from '@podwright/kube-api';

/** The container's request of the resource `name`, in millicores or units; its limit if it has no request. */
export function requestOf(container: Pick<Container, 'resources'>, name: string): bigint {
  return inUnits(containerAmount(container, 'requests', name), name);
}

/** The container's limit of the resource `name`, in millicores or units; 0 for none. */
export function limitOf(container: Pick<Container, 'resources'>, name: string): bigint {
  return inUnits(containerAmount(container, 'limits', name), name);
}
