import { errorMessage, withTimeout } from '@podwright/base';
import type { SandboxCheckpoint } from '../checkpoints/checkpoint.ts';
import type { ContainerSummary } from '../engine/engine-types.ts';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import { CONTAINER_TYPE, SANDBOX_ID_LABEL, SANDBOX_TYPE, TYPE_LABEL } from '../labels/labels.ts';
import { ROLLBACK_TIMEOUT_MS } from '../limits.ts';
import { findSandbox } from './found-sandbox.ts';
import { detach, killContainer, rollBack } from './roll-back.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { sandboxIdentity } from './sandbox-identity.ts';
import { netnsPathOf } from './sandbox-netns.ts';

/** The recovery action for an existing sandbox at startup. */
export type Recovery =
  /** Remove the sandbox: its creation never completed, and it has no containers. */
  | 'roll back'
  /** Kill the sandbox: it has containers but no network. The client then stops and removes its containers. */
  | 'end'
  | 'keep';

/**
 * Cleans up sandboxes left half-created or half-removed by an earlier process, before any call is served. Failures are logged, and retried
 * by the client's calls and the next startup. Throws if the Engine does not respond.
 */
export async function recoverSandboxes(dependencies: SandboxDependencies, signal: AbortSignal): Promise<void> {
  const { services, checkpoints } = dependencies;
  await checkpoints.sweep();
  const { containers } = services.engine;
  const checkpointed = await checkpoints.ids();
  const all = await containers.list({ label: [`${TYPE_LABEL}=${SANDBOX_TYPE}`] }, signal);
  const inSandboxes = await containers.list({ label: [`${TYPE_LABEL}=${CONTAINER_TYPE}`] }, signal);
  const occupied = new Set(inSandboxes.map(({ Labels }) => Labels[SANDBOX_ID_LABEL] ?? ''));
  const ours = all.filter(({ Labels, Names }) => sandboxIdentity({ names: Names, labels: Labels }) !== undefined);
  for (const container of ours) await recoverOne(dependencies, container, occupied);
  const there = new Set(ours.map(({ Id }) => Id));
  for (const id of checkpointed) if (!there.has(id)) await recoverOrphan(dependencies, id, occupied.has(id));
}

async function recoverOne(
  dependencies: SandboxDependencies,
  { Id, State }: ContainerSummary,
  occupied: ReadonlySet<string>,
): Promise<void> {
  const { engine, logger } = dependencies.services;
  const checkpoint = await dependencies.checkpoints.read(Id);
  const hasNetwork = await hasNetworkOf(dependencies, Id, checkpoint);
  const recovery = recoveryOf({ state: State, hasNetwork, isOccupied: occupied.has(Id) });
  if (recovery === 'keep') return;
  logger.warn({ sandbox: Id, state: State, hasNetwork }, 'found an incompletely created or removed sandbox');
  await attempt(dependencies, Id, () => (recovery === 'end' ? killContainer(engine, Id) : rollBack(dependencies, Id)));
}

/** Whether the sandbox's network is set up, or the sandbox does not use this network plugin. */
async function hasNetworkOf(
  { services: { engine, network } }: SandboxDependencies,
  sandboxId: string,
  checkpoint: SandboxCheckpoint | undefined,
): Promise<boolean> {
  if (checkpoint?.network !== network.name || checkpoint.hostNetwork) return true;
  const { name, namespace, uid } = checkpoint;
  return await network.isSetUp({ name, namespace, uid, sandboxId }, async () => {
    using signal = withTimeout(undefined, ROLLBACK_TIMEOUT_MS, `find the network namespace of sandbox ${sandboxId}`);
    const container = await unlessNotFound(engine.containers.inspect(sandboxId, signal));
    return container && netnsPathOf(container);
  });
}

/** Chooses the recovery action for a sandbox. `state` is its state in the Engine. An exited sandbox is kept until the client removes it. */
export function recoveryOf(sandbox: { state: string; hasNetwork: boolean; isOccupied: boolean }): Recovery {
  const { state, hasNetwork, isOccupied } = sandbox;
  if (state === 'created') return isOccupied ? 'keep' : 'roll back';
  if (state !== 'running' || hasNetwork) return 'keep';
  return isOccupied ? 'end' : 'roll back';
}

/**
 * Removes the network of a sandbox that has a checkpoint but whose own container is gone. Also removes the checkpoint, unless the sandbox
 * still has other containers; in that case, the client removes them together with the sandbox.
 */
async function recoverOrphan(dependencies: SandboxDependencies, id: string, isOccupied: boolean): Promise<void> {
  const { logger } = dependencies.services;
  logger.warn({ sandbox: id }, 'found the checkpoint of a sandbox that has no container');
  await attempt(dependencies, id, async () => {
    using signal = withTimeout(undefined, ROLLBACK_TIMEOUT_MS, `remove the network of sandbox ${id}`);
    await detach(dependencies, await findSandbox(dependencies, id, signal), signal);
    if (!isOccupied) await dependencies.checkpoints.remove(id);
  });
}

async function attempt({ services }: SandboxDependencies, id: string, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    services.logger.error({ sandbox: id, error: errorMessage(error) }, 'a sandbox could not be cleaned up');
  });
}
