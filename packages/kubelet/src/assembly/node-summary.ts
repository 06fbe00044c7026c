import type { CriClient } from '@podwright/cri';
import { PodDirectories } from '@podwright/volumes';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import type { PodFreezer } from '../cgroups/pod-freezer.ts';
import { podLogDirectory } from '../kuberuntime/pod-sandbox-config.ts';
import type { KubeletOptions } from '../options.ts';
import { SummaryProvider } from '../stats/summary-provider.ts';
import type { KnownHost } from './known-host.ts';
import type { KubeletParts } from './kubelet-parts.ts';
import type { PodSync } from './pod-sync.ts';

type NodeSummaryInput = {
  options: KubeletOptions;
  cri: CriClient;
  cgroups: PodCgroups;
  parts: Pick<KubeletParts, 'volumes' | 'nodePlugins'>;
  sync: Pick<PodSync, 'cache' | 'statuses'>;
  known: Pick<KnownHost, 'hierarchy' | 'capacity'>;
  freezer: PodFreezer;
};

/** Creates the provider of node and pod resource usage for the stats API and eviction. */
export function nodeSummary({ options, cri, cgroups, parts, sync, known, freezer }: NodeSummaryInput): SummaryProvider {
  const { nodeName, rootDir, podLogsDir, logger, metrics } = options;
  const { hierarchy, capacity } = known;
  const directories = new PodDirectories(rootDir);
  return new SummaryProvider({
    ...{ cri, nodeName, hierarchy, memoryBytes: capacity.memoryBytes },
    ...{ podsCgroup: cgroups.allPods, rootDir, logger, metrics },
    logDirectory: (pod) => podLogDirectory(podLogsDir, pod),
    hostsFile: (uid) => directories.etcHosts(uid),
    messageDirectory: (uid, container) => directories.containers(uid, container),
    cgroupOf: (pod) => cgroups.parentFor(pod),
    freeze: (pod, maxMs) => freezer.freeze(pod.metadata.uid, cgroups.parentFor(pod), maxMs),
    runtimePods: () => sync.cache.list(),
    podOf: (uid) => sync.statuses.pod(uid),
    volumePaths: (uid) => parts.volumes.pathsOf(uid),
    driverUse: (path) => parts.nodePlugins.csi.use(path) ?? parts.nodePlugins.csiBlock.use(path),
  });
}
