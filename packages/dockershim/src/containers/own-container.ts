import { PodwrightError } from '@podwright/base';
import { givenId } from '@podwright/cri';
import type { Engine } from '../engine/engine.ts';
import type { ContainerInspection } from '../engine/engine-types.ts';
import type { CONTAINER_TYPE, SANDBOX_TYPE } from '../labels/labels.ts';
import { requireOurs } from '../labels/ownership.ts';

type Wanted = { type: typeof CONTAINER_TYPE | typeof SANDBOX_TYPE; id: string };

/**
 * The container as it is now, by its id or a beginning of it that only one has. `attempted` is at the head of errors: `not_found` for
 * one that is not there, that is no dockershim's, or whose name is what was given: the Engine takes names as well.
 */
export async function inspectOwn(
  engine: Pick<Engine, 'containers'>,
  { type, id }: Wanted,
  { attempted, signal }: { attempted: string; signal: AbortSignal },
): Promise<ContainerInspection> {
  const container = await engine.containers.inspect(givenId(attempted, id), signal);
  if (!container.Id.startsWith(id)) throw new PodwrightError('not_found', `${attempted}: there is none with this id`);
  requireOurs(type, { names: [container.Name], labels: container.Config.Labels }, attempted);
  return container;
}
