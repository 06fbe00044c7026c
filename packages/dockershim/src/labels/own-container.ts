import { PodwrightError } from '@podwright/base';
import { givenId } from '@podwright/cri';
import type { Engine } from '../engine/engine.ts';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { type ContainerType, requireOurs } from './ownership.ts';

type Wanted = { type: ContainerType; id: string };
type Call = { attempted: string; signal: AbortSignal };

/**
 * Inspects a container by its ID or a unique ID prefix. Throws `not_found` if it does not exist, does not belong to a dockershim, or was
 * matched by its name, which the Engine also accepts. `attempted` prefixes the error message.
 */
export async function inspectOwn(
  { containers }: Pick<Engine, 'containers'>,
  { type, id }: Wanted,
  { attempted, signal }: Call,
): Promise<ContainerInspection> {
  const container = await containers.inspect(givenId(attempted, id), signal);
  if (!container.Id.startsWith(id)) throw new PodwrightError('not_found', `${attempted}: no container has this id`);
  requireOurs(type, { names: [container.Name], labels: container.Config.Labels }, attempted);
  return container;
}

/** Like `inspectOwn`, but throws `failed_precondition` if the container is not running. */
export async function requireRunning(
  engine: Pick<Engine, 'containers'>,
  wanted: Wanted,
  call: Call,
): Promise<ContainerInspection> {
  const container = await inspectOwn(engine, wanted, call);
  if (container.State.Running) return container;
  const kind = wanted.type === 'podsandbox' ? 'sandbox' : 'container';
  throw new PodwrightError('failed_precondition', `${call.attempted}: ${kind} ${container.Id} does not run`);
}
