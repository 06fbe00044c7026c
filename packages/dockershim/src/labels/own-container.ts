import { PodwrightError } from '@podwright/base';
import { givenId } from '@podwright/cri';
import type { Engine } from '../engine/engine.ts';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { type ContainerType, requireOurs } from './ownership.ts';

type Wanted = { type: ContainerType; id: string };
type Call = { attempted: string; signal: AbortSignal };

/**
 * Inspects a container by its id or a unique prefix of it. `attempted` is the prefix of errors: `not_found` if it does not exist, is
 * not of a dockershim, or was found by its name, which the Engine accepts too.
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

/** As `inspectOwn`; `failed_precondition` if the container does not run. */
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
