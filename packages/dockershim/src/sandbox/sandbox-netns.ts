import { PodwrightError } from '@podwright/base';
import type { Engine } from '../engine/engine.ts';
import type { ContainerInspection } from '../engine/engine-types.ts';

/** The network namespace of a container's process; nothing where it does not run. */
export function netnsPathOf({ State }: Pick<ContainerInspection, 'State'>): string | undefined {
  return State.Running && State.Pid > 0 ? `/proc/${State.Pid}/ns/net` : undefined;
}

/** The network namespace of a sandbox. Errors: `not_found`, `failed_precondition` where it does not run. */
export async function sandboxNetnsPath(engine: Engine, id: string, signal?: AbortSignal): Promise<string> {
  const path = netnsPathOf(await engine.containers.inspect(id, signal));
  if (path !== undefined) return path;
  throw new PodwrightError('failed_precondition', `find the network of sandbox ${id}: it does not run`);
}
