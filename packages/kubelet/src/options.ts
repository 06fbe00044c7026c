import { join } from 'node:path';
import type { Failpoint, Logger, Registry } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import { type ConfigurableOptions, configurableOptions } from '@podwright/kubelet-configuration';
import type { LegacyLogs } from './logs/container-logs.ts';

/** The options of a kubelet: those from settings, and the parts of its process that it uses. */
export type KubeletOptions = ConfigurableOptions & {
  logger: Logger;
  /** Reads logs that the runtime does not keep where the CRI specifies, as with old Docker Engines. */
  legacyLogs?: LegacyLogs;
  /** Registry for upstream's `kubelet_*` and `prober_*` metrics. Default: none are recorded. */
  metrics?: Registry;
  /** The API server of the node's cluster; absent for a lone node. */
  cluster?: ClusterOptions;
};

/** The API clients of a kubelet in a cluster. The caller closes them, after the kubelet. */
export type ClusterOptions = {
  /** Client for everything except heartbeats and events. */
  client: KubeClient;
  /** Client for the lease and the node's status, so that other calls do not delay them. */
  heartbeatClient: KubeClient;
  /** Client for events. */
  eventClient: KubeClient;
  /** For tests; the stages are `status/merged`, `status/patched`, `status/deleted`, `mirror/deleted` and `mirror/created`. */
  failpoint?: Failpoint;
};

type Required = 'manifestDir' | 'runtimeEndpoint' | 'nodeName' | 'logger';

/** The given options, with defaults for all others. */
export function kubeletOptions(given: Pick<KubeletOptions, Required> & Partial<KubeletOptions>): KubeletOptions {
  return { ...configurableOptions(given), ...given };
}

/** The directory of `Localhost` seccomp profiles, the same as in upstream. */
export function seccompRoot({ rootDir }: Pick<KubeletOptions, 'rootDir'>): string {
  return join(rootDir, 'seccomp');
}
