import { join } from 'node:path';
import type { Failpoint, Logger, Registry } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import { type ConfigurableOptions, configurableOptions } from '@podwright/kubelet-configuration';
import type { LegacyLogs } from './logs/container-logs.ts';

/** The options of a kubelet: those that settings can set, and the parts of its process that it uses. */
export type KubeletOptions = ConfigurableOptions & {
  logger: Logger;
  /** Reads logs that the runtime keeps elsewhere than the CRI specifies, as old Docker Engines do. */
  legacyLogs?: LegacyLogs;
  /** Registry for upstream's metrics `kubelet_*` and `prober_*`. Default: none are recorded. */
  metrics?: Registry;
  /** The API server of the node's cluster; absent for a lone node. */
  cluster?: ClusterOptions;
};

/** The clients of a kubelet in a cluster. The caller closes them, after the kubelet. */
export type ClusterOptions = {
  /** For everything but heartbeats and events. */
  client: KubeClient;
  /** For the lease and the node's status, so that other calls do not delay them. */
  heartbeatClient: KubeClient;
  /** For events. */
  eventClient: KubeClient;
  /** For tests: stages `status/read`, `status/patched`, `status/deleted`, `mirror/deleted`, `mirror/created`. */
  failpoint?: Failpoint;
};

type Required = 'manifestDir' | 'runtimeEndpoint' | 'nodeName' | 'logger';

/** The given options, with the defaults of the others. */
export function kubeletOptions(given: Pick<KubeletOptions, Required> & Partial<KubeletOptions>): KubeletOptions {
  return { ...configurableOptions(given), ...given };
}

/** The directory of `Localhost` seccomp profiles, as upstream's. */
export function seccompRoot({ rootDir }: Pick<KubeletOptions, 'rootDir'>): string {
  return join(rootDir, 'seccomp');
}
