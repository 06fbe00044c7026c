import { PodwrightError } from '@podwright/base';
import { givenId } from '@podwright/cri';
import type { Engine } from '../engine/engine.ts';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { type ContainerType, requireOurs } from './ownership.ts';

type Wanted = { type: ContainerType; id: string };
type Call = { attempted: string; signal: AbortSignal };

/**
 * The container as it is now, by its id or a beginning of it that only one has. `attempted` is at the head of errors: `not_found` for
 * one that is not there, that is no dockershim's, or whose name is what was given: the Engine takes names as well.
 */
export async function inspectOwn(
  { containers }: Pick<Engine, 'containers'>,
  { type, id }: Wanted,
  { attempted, signal }: Call,
): Promise<ContainerInspection> {
  const container = await containers.inspect(givenId(attempted, id), signal);
  if (!container.Id.startsWith(id)) throw new PodwrightError('not_found', `${attempted}: there is none with this id`);
  requireOurs(type, { names: [container.Name], labels: container.Config.Labels }, attempted);
  return container;
}

/** The same for one that must run: `failed_precondition` where it does not. */
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
