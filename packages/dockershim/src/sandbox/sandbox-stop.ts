import { errorMessage, PodwrightError } from '@podwright/base';
import { givenId, type RuntimeHandlers } from '@podwright/cri';
import { isSandboxId } from '../checkpoints/checkpoint-store.ts';
import { SANDBOX_ID_LABEL } from '../labels/labels.ts';
import { type FoundSandbox, findSandbox } from './found-sandbox.ts';
import { detach, killContainer } from './roll-back.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { isInSandbox } from './sandbox-identity.ts';

/**
 * StopPodSandbox: kills the pod's containers and removes its network, even if the sandbox's container or checkpoint is missing. Succeeds if
 * the sandbox does not exist.
 */
export function sandboxStop(dependencies: SandboxDependencies): RuntimeHandlers['stopPodSandbox'] {
  return async ({ podSandboxId }, { signal }) => {
    const found = await findSandbox(dependencies, givenId('stop sandbox', podSandboxId), signal);
    if (!isSandboxId(found.id)) return {};
    const { engine, failpoint } = dependencies.services;
    const ended = containersOf(dependencies, found.id, signal).then((ids) =>
      allOf(ids.map((id) => killContainer(engine, id, signal))),
    );
    // Kill the sandbox even if its network could not be torn down in time: a later attempt to tear it down does not need the sandbox's
    // process.
    const detached = detach(dependencies, found, signal).then(() => failpoint('sandbox-stop/network-down'));
    const results = await Promise.allSettled([ended, detached]);
    const own = found.container === undefined ? Promise.resolve() : killContainer(engine, found.id);
    results.push(...(await Promise.allSettled([own])));
    await failpoint('sandbox-stop/stopped');
    throwAll(`stop sandbox ${found.id}`, results);
    return {};
  };
}

/** Returns the IDs of the containers in a sandbox. Ignores containers that were not created by a dockershim. */
export async function containersOf(
  { services }: Pick<SandboxDependencies, 'services'>,
  sandboxId: FoundSandbox['id'],
  signal: AbortSignal,
): Promise<string[]> {
  const found = await services.engine.containers.list({ label: [`${SANDBOX_ID_LABEL}=${sandboxId}`] }, signal);
  return found
    .filter(({ Labels, Names }) => isInSandbox(sandboxId, { names: Names, labels: Labels }))
    .map(({ Id }) => Id);
}

/** Waits for all promises, then throws their errors combined into one. */
export async function allOf(work: Promise<unknown>[]): Promise<void> {
  throwAll('', await Promise.allSettled(work));
}

/** Throws all errors combined into one, with the code of the first. */
export function throwAll(attempted: string, results: PromiseSettledResult<unknown>[]): void {
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  const [first] = failures;
  if (first === undefined) return;
  const code = first instanceof PodwrightError ? first.code : 'internal';
  const prefix = attempted === '' ? '' : `${attempted}: `;
  throw new PodwrightError(code, prefix + failures.map(errorMessage).join('; '), { cause: first });
}
