import { type Container, containerAmount, inUnits } from '@podwright/kube-api';

/**
 * Returns the container's request for the resource `name`, in millicores for CPU and in units otherwise. Falls back to the limit if there
 * is no request.
 */
export function requestOf(container: Pick<Container, 'resources'>, name: string): bigint {
  return inUnits(containerAmount(container, 'requests', name), name);
}

/** Returns the container's limit for the resource `name`, in millicores for CPU and in units otherwise. Returns 0 if there is no limit. */
export function limitOf(container: Pick<Container, 'resources'>, name: string): bigint {
  return inUnits(containerAmount(container, 'limits', name), name);
}
