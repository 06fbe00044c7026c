import type { ContainerInspection } from '../engine/engine-types.ts';

/** Returns the path of the network namespace of a container's process, or `undefined` if the container is not running. */
export function netnsPathOf({ State }: Pick<ContainerInspection, 'State'>): string | undefined {
  return State.Running && State.Pid > 0 ? `/proc/${State.Pid}/ns/net` : undefined;
}
