import { join } from 'node:path';
import type { Failpoint, Logger, Registry } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import { type ConfigurableOptions, configurableOptions } from '@podwright/kubelet-configuration';
import type { DirectoryClaim, PodAccess, TmpfsCalls } from '@podwright/volumes';
import type { LegacyLogs } from './logs/container-logs.ts';

/** A kubelet's options: its configuration and its dependencies. */
export type KubeletOptions = ConfigurableOptions & {
  logger: Logger;
  /** Reads the logs of container runtimes that do not store them where the CRI specifies, such as old Docker Engines. */
  legacyLogs?: LegacyLogs;
  /** Mounts tmpfs volumes without running programs. Default: mount(8) and umount(8) are run. */
  tmpfs?: TmpfsCalls;
  /** Registry for upstream's `kubelet_*` and `prober_*` metrics. Default: none are recorded. */
  metrics?: Registry;
  /** The API server of the node's cluster; absent for a standalone node. */
  cluster?: ClusterOptions;
};

/** The API clients of a kubelet in a cluster. The caller closes them after the kubelet has stopped. */
export type ClusterOptions = {
  /** Client for everything except heartbeats and events. */
  client: KubeClient;
  /** Client for the lease and the node status, so that other calls cannot delay them. */
  heartbeatClient: KubeClient;
  eventClient: KubeClient;
  /**
   * How pods reach the API server if not through the Service `kubernetes`: at the given address, or not at all. Determines the pods'
   * environment variables `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`.
   */
  podAccess?: PodAccess;
  /** Set if the API server is the node's own: no other control plane manages the node. */
  isOwnApi?: true;
  /** Lists the PVCs stored in directories on this node. `isEnforced`: whether their capacity is enforced. Default: no PVCs. */
  claims?: { list: () => Promise<readonly DirectoryClaim[]>; isEnforced: boolean };
  /**
   * A failpoint, set only in tests. It is called at the stages `status/merged`, `status/patched`, `status/deleted`, `mirror/deleted` and
   * `mirror/created`.
   */
  failpoint?: Failpoint;
};

/** Whether the node has no control plane, so that nothing recreates pods that it rejects or evicts. */
export const isStandaloneNode = ({ cluster }: { cluster?: Pick<ClusterOptions, 'isOwnApi'> }): boolean =>
  cluster === undefined || cluster.isOwnApi === true;

type Required = 'manifestDir' | 'runtimeEndpoint' | 'nodeName' | 'logger';

/** Returns the given options, with defaults for all others. */
export function kubeletOptions(given: Pick<KubeletOptions, Required> & Partial<KubeletOptions>): KubeletOptions {
  return { ...configurableOptions(given), ...given };
}

/** Returns the directory of `Localhost` seccomp profiles; the path is the same as upstream's. */
export function seccompRoot({ rootDir }: Pick<KubeletOptions, 'rootDir'>): string {
  return join(rootDir, 'seccomp');
}
