import { PodwrightError } from '@podwright/base';
import {
  type MessageInitShape,
  NamespaceMode,
  PodSandboxState,
  type PodSandboxStatusSchema,
  type RuntimeHandlers,
  verboseInfo,
} from '@podwright/cri';
import { nanoseconds } from '../engine/engine-times.ts';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { criMarks } from '../labels/labels.ts';
import { type FoundSandbox, findSandbox } from './found-sandbox.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { decodeDetails } from './sandbox-details.ts';
import { checkpointedSandbox, metadataOf } from './sandbox-list.ts';

type Status = MessageInitShape<typeof PodSandboxStatusSchema>;

/**
 * PodSandboxStatus: combines the state from Docker, the network plugin and the checkpoint. A sandbox whose container no longer exists is
 * not ready.
 */
export function sandboxStatus(dependencies: SandboxDependencies): RuntimeHandlers['podSandboxStatus'] {
  return async ({ podSandboxId, verbose }, { signal }) => {
    const found = await findSandbox(dependencies, podSandboxId, signal);
    const { container, checkpoint } = found;
    if (container === undefined && checkpoint === undefined)
      throw new PodwrightError('not_found', `sandbox "${podSandboxId}" is not there`);
    return {
      status: container === undefined ? withoutContainer(found) : await withContainer(dependencies, found, container),
      timestamp: BigInt(Date.now()) * 1_000_000n,
      info: verboseInfo(verbose, () => details(found)),
    };
  };
}

function details({ container, checkpoint, netnsPath: netns }: FoundSandbox): object {
  return { pid: container?.State.Pid, netns, checkpoint, runtime: container?.HostConfig.Runtime };
}

function withoutContainer({ id, checkpoint }: FoundSandbox): Status {
  const network = checkpoint!.hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD;
  return { ...checkpointedSandbox(id, checkpoint!), linux: { namespaces: { options: { network } } } };
}

async function withContainer(
  { services, unfinished }: SandboxDependencies,
  found: FoundSandbox,
  container: ContainerInspection,
): Promise<Status> {
  const { Labels } = container.Config;
  const isReady = container.State.Running && !unfinished.has(found.id);
  const details = decodeDetails(Labels);
  const [ip = '', ...others] = isReady ? await addressesOf(services.network, found, container) : [];
  const { NetworkMode, IpcMode, PidMode, Runtime } = container.HostConfig;
  return {
    id: found.id,
    metadata: metadataOf(found.pod),
    state: isReady ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
    createdAt: details?.createdAtNs ?? nanoseconds(container.Created),
    network: { ip, additionalIps: others.map((address) => ({ ip: address })) },
    linux: {
      namespaces: {
        options: {
          network: NetworkMode === 'host' ? NamespaceMode.NODE : NamespaceMode.POD,
          ipc: IpcMode === 'host' ? NamespaceMode.NODE : NamespaceMode.POD,
          pid: PidMode === 'host' ? NamespaceMode.NODE : NamespaceMode.CONTAINER,
        },
      },
    },
    ...criMarks(Labels),
    runtimeHandler: details?.runtimeHandler ?? Runtime,
  };
}

/**
 * Returns the addresses reported by the network plugin, falling back to those on Docker's own bridge. Empty for a pod on the host network.
 */
async function addressesOf(
  network: SandboxDependencies['services']['network'],
  { pod, hostNetwork, netnsPath }: FoundSandbox,
  { NetworkSettings }: ContainerInspection,
): Promise<string[]> {
  if (hostNetwork) return [];
  const known = await network.podNetworkStatus(pod, netnsPath);
  if (known !== undefined) return known.ips;
  const attached = [NetworkSettings, ...Object.values(NetworkSettings.Networks)];
  const addresses = attached.flatMap((settings) => [settings?.IPAddress ?? '', settings?.GlobalIPv6Address ?? '']);
  return [...new Set(addresses.filter((address) => address !== ''))];
}
