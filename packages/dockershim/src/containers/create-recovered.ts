import { randomBytes } from 'node:crypto';
import { type Logger, PodwrightError } from '@podwright/base';
import type { Engine } from '../engine/engine.ts';
import { isConflict } from '../engine/engine-error.ts';
import type { ContainerInspection, ContainerSpec } from '../engine/engine-types.ts';
import { unlessGone } from '../engine/unless-gone.ts';
import { CONTAINER_TYPE } from '../labels/labels.ts';
import { isOurs } from '../labels/ownership.ts';

/** How often a name is tried whose holders come and go. */
const MAX_TRIES = 3;

type Dependencies = { engine: Pick<Engine, 'containers'>; logger: Logger; signal: AbortSignal };

/**
 * Creates a container of a pod. Where its name is taken, the holder decides: what is left of an earlier try, and does not run, is
 * removed; one that runs is an `already_exists`; a foreign one keeps the name, as does one that is not there (an Engine that was killed
 * forgets to give names back), and ours has a suffix then.
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
    const holder = await unlessGone(engine.containers.inspect(tried, signal));
    logger.warn({ name: tried, holder: holder?.Id }, 'the name of a container is taken');
    if (holder !== undefined && isOwn(holder)) await giveWay(holder, dependencies);
    else tried = `${name}_${randomBytes(4).toString('hex')}`;
  }
}

function isOwn({ Name, Config }: ContainerInspection): boolean {
  return isOurs(CONTAINER_TYPE, { names: [Name], labels: Config.Labels });
}

async function giveWay({ Id, Name, State }: ContainerInspection, { engine, signal }: Dependencies): Promise<void> {
  if (State.Running)
    throw new PodwrightError('already_exists', `create container ${Name.slice(1)}: container ${Id} is it, and runs`);
  await unlessGone(engine.containers.remove(Id, signal));
}
