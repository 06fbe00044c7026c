import { randomBytes } from 'node:crypto';
import { isNotFound, PodwrightError } from '@podwright/base';
import { EngineError, isConflict } from '../engine/engine-error.ts';
import type { ContainerInspection, ContainerSpec } from '../engine/engine-types.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { sandboxIdentity } from './sandbox-identity.ts';
import { takeBack } from './take-back.ts';

/** Names and images that may be in the way, one after the other. */
const MOST_TRIES = 4;

/**
 * Creates a sandbox's container and gives its id. An image that is missing is got first; a name that a dead sandbox of ours has is
 * freed. Errors: `already_exists` where one that lives, or a foreign container, has the name.
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

/** Makes a name free, or gives another: the Engine may keep a name for a container that it does not have any more. */
async function freeName(
  dependencies: SandboxDependencies,
  { name, holder }: { name: string; holder: string },
  signal: AbortSignal,
): Promise<string> {
  const found = await inspectIfThere(dependencies, holder, signal);
  if (found === undefined) return `${name}_${randomBytes(4).toString('hex')}`;
  const { logger } = dependencies.services;
  if (sandboxIdentity(found.Config.Labels, [found.Name]) === undefined) {
    const message = `create sandbox ${name}: container ${holder}, which is no sandbox of a pod, has this name`;
    throw new PodwrightError('already_exists', message);
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

async function inspectIfThere(
  { services }: SandboxDependencies,
  id: string,
  signal: AbortSignal,
): Promise<ContainerInspection | undefined> {
  return await services.engine.containers.inspect(id, signal).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}
