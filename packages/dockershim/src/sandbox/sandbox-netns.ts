import type { ContainerInspection } from '../engine/engine-types.ts';

/** Path of the network namespace of a container's process; `undefined` if the container does not run. */
export function netnsPathOf({ State }: Pick<ContainerInspection, 'State'>): string | undefined {
  return State.Running && State.Pid > 0 ? `/proc/${State.Pid}/ns/net` : undefined;
}
