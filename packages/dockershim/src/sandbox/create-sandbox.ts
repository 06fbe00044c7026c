import { randomBytes } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import { EngineError, isConflict } from '../engine/engine-error.ts';
import type { ContainerSpec } from '../engine/engine-types.ts';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import { rollBack } from './roll-back.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { sandboxIdentity } from './sandbox-identity.ts';

/** Maximum number of attempts to create a sandbox. Attempts might fail because the image is missing or the name is taken. */
const MOST_TRIES = 4;

/**
 * Creates a sandbox's container and returns its ID. Pulls a missing image, and removes a dead sandbox that holds the name. Throws
 * `already_exists` if the name belongs to a running sandbox.
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

/** Extracts the ID of the container holding the name from the Engine's conflict error. */
export function holderOfName(error: unknown): string | undefined {
  if (!isConflict(error)) return undefined;
  return /already in use by container "?([0-9a-f]{12,64})"?/.exec(error.message)?.[1];
}

function isMissingImage(error: unknown): boolean {
  return error instanceof EngineError && error.statusCode === 404 && /no such image/i.test(error.message);
}

/**
 * Frees a name and returns it. If the name belongs to another client's container or to one that no longer exists (a killed Engine might not
 * release names), returns the name with a suffix instead.
 */
async function freeName(
  dependencies: SandboxDependencies,
  { name, holder }: { name: string; holder: string },
  signal: AbortSignal,
): Promise<string> {
  const { engine, logger } = dependencies.services;
  const found = await unlessNotFound(engine.containers.inspect(holder, signal));
  if (found === undefined || !sandboxIdentity({ names: [found.Name], labels: found.Config.Labels })) {
    logger.warn({ name, holder }, 'the name of a sandbox is taken by a foreign container, adding a suffix');
    return `${name}_${randomBytes(4).toString('hex')}`;
  }
  if (found.State.Running && !dependencies.unfinished.has(found.Id))
    throw new PodwrightError('already_exists', `create sandbox ${name}: it exists and runs, as ${holder}`);
  logger.warn(
    { sandbox: holder, name, state: found.State.Status },
    'removing a dead sandbox whose name is requested again',
  );
  await rollBack(dependencies, holder);
  return name;
}
