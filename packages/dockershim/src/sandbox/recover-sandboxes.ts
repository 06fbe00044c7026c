import { errorMessage, withTimeout } from '@podwright/base';
import type { SandboxCheckpoint } from '../checkpoints/checkpoint.ts';
import type { ContainerSummary } from '../engine/engine-types.ts';
import { CONTAINER_TYPE, SANDBOX_ID_LABEL, SANDBOX_TYPE, TYPE_LABEL } from '../labels/labels.ts';
import { TAKE_BACK_TIMEOUT_MS } from '../limits.ts';
import { findSandbox } from './found-sandbox.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { sandboxIdentity } from './sandbox-identity.ts';
import { detach, killContainer, takeBack } from './take-back.ts';

/** What a start does about a sandbox that it finds. */
export type Recovery =
  /** It was never finished, and nothing is in it: all of it goes. */
  | 'take back'
  /** It has no network, and containers are in it, which the client has to see end with it. */
  | 'end'
  | 'keep';

/**
 * Puts sandboxes in order that an earlier process left half made or half removed, before calls are served. What fails is logged,
 * and tried again by the client's calls and by the next start. Throws where the Engine does not answer.
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
  const { engine, network, logger } = dependencies.services;
  const checkpoint = await dependencies.checkpoints.read(Id);
  const hasNetwork = (await hasNetworkOf(network, Id, checkpoint)) ?? true;
  const recovery = recoveryOf({ state: State, hasNetwork, isOccupied: occupied.has(Id) });
  if (recovery === 'keep') return;
  logger.warn({ sandbox: Id, state: State, hasNetwork }, 'found a sandbox that is half made or half removed');
  await attempt(dependencies, Id, () => (recovery === 'end' ? killContainer(engine, Id) : takeBack(dependencies, Id)));
}

/** Whether its network is set up; nothing where this plugin would not know. */
async function hasNetworkOf(
  network: SandboxDependencies['services']['network'],
  sandboxId: string,
  checkpoint: SandboxCheckpoint | undefined,
): Promise<boolean | undefined> {
  const knows = network.name === 'cni' && checkpoint?.network === network.name && !checkpoint.hostNetwork;
  if (!knows) return undefined;
  const { name, namespace, uid } = checkpoint;
  return (await network.podNetworkStatus({ name, namespace, uid, sandboxId }, undefined)) !== undefined;
}

/** `state` is the Engine's word. One that has ended is the client's to remove, whatever it has. */
export function recoveryOf(sandbox: { state: string; hasNetwork: boolean; isOccupied: boolean }): Recovery {
  const { state, hasNetwork, isOccupied } = sandbox;
  if (state === 'created') return isOccupied ? 'keep' : 'take back';
  if (state !== 'running' || hasNetwork) return 'keep';
  return isOccupied ? 'end' : 'take back';
}

/** A checkpoint whose container is gone: its network is given back; where containers are left, the client removes it with them. */
async function recoverOrphan(dependencies: SandboxDependencies, id: string, isOccupied: boolean): Promise<void> {
  const { logger } = dependencies.services;
  logger.warn({ sandbox: id }, 'found the checkpoint of a sandbox that has no container');
  await attempt(dependencies, id, async () => {
    using signal = withTimeout(undefined, TAKE_BACK_TIMEOUT_MS, `remove the network of sandbox ${id}`);
    await detach(dependencies, await findSandbox(dependencies, id, signal), signal);
    if (!isOccupied) await dependencies.checkpoints.remove(id);
  });
}

async function attempt({ services }: SandboxDependencies, id: string, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    services.logger.error({ sandbox: id, error: errorMessage(error) }, 'a sandbox could not be put in order');
  });
}
