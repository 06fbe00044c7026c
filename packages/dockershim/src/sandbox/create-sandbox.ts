import { randomBytes } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import { EngineError, isConflict } from '../engine/engine-error.ts';
import type { ContainerSpec } from '../engine/engine-types.ts';
import { unlessGone } from '../engine/unless-gone.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { sandboxIdentity } from './sandbox-identity.ts';
import { takeBack } from './take-back.ts';

/** Names and images that may be in the way, one after the other. */
const MOST_TRIES = 4;

/**
 * Creates a sandbox's container and gives its id. An image that is missing is got first; a name that a dead sandbox of ours has is
 * freed. Errors: `already_exists` where one that lives has the name.
 */
export async function createSandbox(
  dependencies: SandboxDependencies,
  { name, spec }: { name: string; spec: ContainerSpec },
  signal: AbortSignal,
): Promise<string> {
  const { containers } = dependencies.services.engine;
  let free = name;
  for (let tries = 1; ; tries++) {
    try {
      return await containers.create(free, spec, signal);
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
      const holder = holderOfName(error);
      if (isMissingImage(error)) await dependencies.ensureImage(spec.Image, signal);
      else if (holder !== undefined) free = await freeName(dependencies, { name, holder }, signal);
      else throw error;
    }
  }
}

/** The id of the container that the Engine says has the name. */
export function holderOfName(error: unknown): string | undefined {
  if (!isConflict(error)) return undefined;
  return /already in use by container "?([0-9a-f]{12,64})"?/.exec(error.message)?.[1];
}

function isMissingImage(error: unknown): boolean {
  return error instanceof EngineError && error.statusCode === 404 && /no such image/i.test(error.message);
}

/**
 * Makes a name free, or gives another: a foreign container keeps it, and so may one that the Engine does not have any more (one that
 * was killed forgets to give names back).
 */
async function freeName(
  dependencies: SandboxDependencies,
  { name, holder }: { name: string; holder: string },
  signal: AbortSignal,
): Promise<string> {
  const { engine, logger } = dependencies.services;
  const found = await unlessGone(engine.containers.inspect(holder, signal));
  if (found === undefined || !sandboxIdentity({ names: [found.Name], labels: found.Config.Labels })) {
    logger.warn({ name, holder }, 'the name of a sandbox is taken by what is none of ours, it has another');
    return `${name}_${randomBytes(4).toString('hex')}`;
  }
  if (found.State.Running && !dependencies.unfinished.has(found.Id))
    throw new PodwrightError('already_exists', `create sandbox ${name}: it is there, and runs, as ${holder}`);
  logger.warn(
    { sandbox: holder, name, state: found.State.Status },
    'removing a dead sandbox whose name is asked for again',
  );
  await takeBack(dependencies, holder);
  return name;
}
