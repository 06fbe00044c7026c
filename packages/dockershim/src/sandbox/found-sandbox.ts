import type { SandboxCheckpoint } from '../checkpoints/checkpoint.ts';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import type { NetworkPod } from '../network/network-plugin.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { sandboxIdentity } from './sandbox-identity.ts';
import { netnsPathOf } from './sandbox-netns.ts';

/** A sandbox as described by its container and its checkpoint. One or both of them might be missing. */
export type FoundSandbox = {
  id: string;
  /** The sandbox's container; `undefined` if there is none, or if it belongs to another client. */
  container: ContainerInspection | undefined;
  checkpoint: SandboxCheckpoint | undefined;
  pod: NetworkPod & { attempt: number };
  hostNetwork: boolean;
  netnsPath: string | undefined;
};

/** Looks up a sandbox by ID or ID prefix, in Docker and among the checkpoints. */
export async function findSandbox(
  { services, checkpoints }: Pick<SandboxDependencies, 'services' | 'checkpoints'>,
  wanted: string,
  signal?: AbortSignal,
): Promise<FoundSandbox> {
  const inspected =
    wanted === '' ? undefined : await unlessNotFound(services.engine.containers.inspect(wanted, signal));
  const identity = inspected && sandboxIdentity({ names: [inspected.Name], labels: inspected.Config.Labels });
  // the Engine also matches containers by name
  const container = identity !== undefined && inspected?.Id.startsWith(wanted) ? inspected : undefined;
  const id = container?.Id ?? wanted;
  const checkpoint = await checkpoints.read(id);
  const known = container === undefined ? undefined : identity;
  return {
    ...{ id, container, checkpoint },
    pod: {
      sandboxId: id,
      namespace: known?.namespace ?? checkpoint?.namespace ?? '',
      name: known?.podName ?? checkpoint?.name ?? '',
      uid: known?.uid ?? checkpoint?.uid ?? '',
      attempt: known?.attempt ?? checkpoint?.attempt ?? 0,
    },
    hostNetwork:
      container === undefined ? checkpoint?.hostNetwork === true : container.HostConfig.NetworkMode === 'host',
    netnsPath: container && netnsPathOf(container),
  };
}
