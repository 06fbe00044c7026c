import { randomBytes } from 'node:crypto';
import { type Logger, PodwrightError } from '@podwright/base';
import type { Engine } from '../engine/engine.ts';
import { isConflict } from '../engine/engine-error.ts';
import type { ContainerInspection, ContainerSpec } from '../engine/engine-types.ts';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import { CONTAINER_TYPE } from '../labels/labels.ts';
import { isOurs } from '../labels/ownership.ts';

/** Maximum number of attempts to create a container. Between attempts, other containers might take and release its name. */
const MAX_TRIES = 3;

type Dependencies = { engine: Pick<Engine, 'containers'>; logger: Logger; signal: AbortSignal };

/**
 * Creates a container of a pod, even if its name is taken. Removes a stopped container left by an earlier attempt; fails with
 * `already_exists` if that container is running. If the name belongs to another client's container or to one that no longer exists (a
 * killed Engine might not release names), appends a suffix to the new container's name.
 */
export async function createRecovered(name: string, spec: ContainerSpec, dependencies: Dependencies): Promise<string> {
  const { engine, logger, signal } = dependencies;
  let tried = name;
  for (let tries = 1; ; tries++) {
    try {
      return await engine.containers.create(tried, spec, signal);
    } catch (error) {
      if (!isConflict(error) || tries === MAX_TRIES) throw error;
    }
    const holder = await unlessNotFound(engine.containers.inspect(tried, signal));
    logger.warn({ name: tried, holder: holder?.Id }, 'the name of a container is taken');
    if (holder !== undefined && isOwn(holder)) await removeLeftover(holder, dependencies);
    else tried = `${name}_${randomBytes(4).toString('hex')}`;
  }
}

function isOwn({ Name, Config }: ContainerInspection): boolean {
  return isOurs(CONTAINER_TYPE, { names: [Name], labels: Config.Labels });
}

async function removeLeftover(
  { Id, Name, State }: ContainerInspection,
  { engine, signal }: Dependencies,
): Promise<void> {
  if (State.Running)
    throw new PodwrightError(
      'already_exists',
      `create container ${Name.slice(1)}: container ${Id} has this name and runs`,
    );
  await unlessNotFound(engine.containers.remove(Id, signal));
}
