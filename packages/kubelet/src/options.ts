import { join } from 'node:path';
import type { Failpoint, Logger, Registry, TracingOptions } from '@podwright/base';
import type { CriApiVersion } from '@podwright/cri';
import type { KubeClient } from '@podwright/kube-client';
import {
  type KubeletServerOptions,
  kubeletServerOptions,
  type VerificationPolicy,
} from '@podwright/kubelet-configuration';
import { DEFAULT_EVICTION, type EvictionOptions } from './eviction-options.ts';
import type { LegacyLogs } from './logs/container-logs.ts';
import type { HostRequirements } from './node/host-requirements.ts';
import { NOTHING_RESERVED, type SystemReserved } from './node/node-allocatable.ts';
import type { ReservedCgroup } from './node/reserved-cgroup.ts';
import { DEFAULT_RESOURCE_POLICY, type ResourcePolicy } from './node/resource-policy.ts';

import type { ShutdownPeriod } from './node-shutdown/shutdown-groups.ts';
import { type NodeSettings, nodeSettings } from './node-status/node-settings.ts';

import { NO_PLACEMENT, type PlacementOptions } from './placement-options.ts';

/** How often pods that no source has are looked for. */
export const ORPHAN_PERIOD_MS = 60_000;

/** Everything that `startKubelet` needs to know; every path is absolute. Several kubelets with other paths live side by side. */
export type KubeletOptions = {
  /** Lasting data: volumes and hosts files of pods (/var/lib/podwright/kubelet). */
  rootDir: string;
  /** Container logs, as `<namespace>_<pod>_<uid>/<container>/<attempt>.log` (/var/log/pods). */
  podLogsDir: string;
  /** Links to them, as `<pod>_<namespace>_<container>-<id>.log`, by which log collectors find them (upstream's /var/log/containers); '' for none. */
  containerLogsDir: string;
  /** Directory of manifests; removing a file deletes its pods. */
  manifestDir: string;
  /** Another source of manifests, fetched again and again. */
  manifestUrl?: string;
  /** Sent with each request for it. */
  manifestUrlHeaders: Record<string, string[]>;
  /** How often the directory is read again although nothing was seen, and how often the URL is. */
  sourcePeriods: { fileMs: number; urlMs: number };
  /** `unix:///path`, an absolute path, or `tcp://host:port`. */
  runtimeEndpoint: string;
  /** Where images are, if not at the runtime. */
  imageEndpoint?: string;
  /** `auto` takes v1, or v1alpha2 from a runtime that has no v1. */
  criApiVersion: CriApiVersion | 'auto';
  /** Deadline of calls to the runtime; those that may take long have more, or none. */
  runtimeRequestTimeoutMs: number;
  nodeName: string;
  /**
   * Address that pods in the host's network show, or one of each family with a comma; '' finds that of the default route, IPv4 first,
   * `::` and `0.0.0.0` find it with their family first.
   */
  nodeIp: string;
  nodeLabels: Record<string, string>;
  /** Cgroup below which pods have theirs, '' to leave cgroups to the runtime. */
  cgroupRoot: string;
  /** `auto` asks the runtime; `systemd` makes slices. */
  cgroupDriver: 'auto' | 'cgroupfs' | 'systemd';
  /** What `auto` takes from a runtime that does not say. */
  cgroupDriverFallback: 'cgroupfs' | 'systemd';
  clusterDns: string[];
  clusterDomain: string;
  /** Pods that want a cluster's DNS are told of with an event while `clusterDns` is empty. */
  warnOfMissingClusterDns: boolean;
  /** The resolv.conf that pods get their DNS settings from. */
  resolvConf: string;
  /** Subnet of pods, which the runtime is told; '' if that is its own business. */
  podCidr: string;
  maxPods: number;
  allowedUnsafeSysctls: string[];
  /** Containers without a seccomp profile get the runtime's default. */
  seccompDefault: boolean;
  /** Containers have the capability NET_RAW unless they drop it; otherwise only those that add it. */
  netRawDefault: boolean;
  /** Ids of the host that a pod in a user namespace gets, a multiple of 65536. */
  userNamespaceIdsPerPod: number;
  /** How containers are held to what they ask for. */
  containerResources: ResourcePolicy;
  /** Where device plugins register and have their sockets, and what containers have of devices is written down; '' for `rootDir/device-plugins`. */
  devicePluginDir: string;
  /** Who gets processors and memory of NUMA nodes for itself. */
  placement: PlacementOptions;
  /** Most processes and threads of a pod, -1 for any number. */
  podPidsLimit: number;
  /** Kept back of the node for everything that is no pod. */
  systemReserved: SystemReserved;
  /** All pods together get no more than the node has less `systemReserved`; with false the kernel does not hold them to it. */
  enforceNodeAllocatable: boolean;
  /** Cgroups of the host that have what is kept back as their limits. */
  reservedCgroups: ReservedCgroup[];
  images: {
    serializePulls: boolean;
    /** 0 for any number. */
    maxParallelPulls: number;
    /** Pulls a second on average, 0 for any number, and at once. */
    registryPullQps: number;
    registryBurst: number;
    pullBackoff: { initialMs: number; maxMs: number };
    /** Docker configuration files with registry credentials. */
    dockerConfigPaths: string[];
    /** Programs that know credentials of registries: a file of kind CredentialProviderConfig, and where the programs are. */
    credentialProviders?: { config: string; directory: string };
    /** Which images that are there a pod may use only if it could pull them. */
    verification: VerificationPolicy;
  };
  crashLoopBackoff: { initialMs: number; maxMs: number };
  /** Log files of a container are rotated at this size; so many are kept. So many are looked at at a time, this often. */
  containerLog: { maxSizeBytes: number; maxFiles: number; maxWorkers: number; monitorPeriodMs: number };
  imageGc: {
    /** Percentage of the image file system at which images are removed, and at which it stops. */
    highThresholdPercent: number;
    lowThresholdPercent: number;
    /** Images that were used more recently stay. */
    minAgeMs: number;
    /** Images that were not used for this long are removed in any case; 0 for never. */
    maxAgeMs: number;
  };
  /** Dead containers to keep: of each container, and (-1: any number) of all. Those that ended more recently stay. */
  containerGc: { maxPerContainer: number; maxContainers: number; minAgeMs: number };
  /** When pods are evicted because the node runs short. */
  eviction: EvictionOptions;
  /** The process's own oom_score_adj, or the nearest that may be set; `undefined` leaves it. */
  oomScoreAdj?: number;
  /** What the host must be like for the kubelet to start. */
  requirements: HostRequirements;
  /** A pod is looked at after this long even if nothing happened. */
  resyncPeriodMs: number;
  /** How long pods have to end before the host shuts down, those of low priority first; none: they are not ended before. */
  shutdownPeriods: ShutdownPeriod[];
  relist: { periodMs: number; eventedPeriodMs: number };
  /** How often pods that no source has are looked for, and what is left of them on the host. */
  orphanPeriodMs: number;
  /** The HTTP API, for who serves it (`serveKubeletApi`). */
  server: KubeletServerOptions;
  /** The node object, for a kubelet that has an API server. */
  node: NodeSettings;
  /** Where traces of pods' syncs go, and how many of them. */
  tracing: TracingOptions;
  logger: Logger;
  /** Reads logs that the runtime keeps elsewhere than in files of the CRI's place. */
  legacyLogs?: LegacyLogs;
  /** Where calls to the runtime, listings, events, hooks and probes are counted, as upstream's `kubelet_*` and `prober_*`. */
  metrics?: Registry;
  /** How changes of an API server's ConfigMaps and Secrets are seen: by watches, or by reading again what is old, or each time. */
  objectChangeDetection: 'Watch' | 'Cache' | 'Get';
  /** The API server whose node this is; absent for a lone node. */
  cluster?: ClusterOptions;
};

/** What a kubelet needs to be the node of a cluster. Whoever made the clients closes them, after the kubelet. */
export type ClusterOptions = {
  /** For everything but heartbeats and events. */
  client: KubeClient;
  /** For the lease and the node's status: no other call holds them up. */
  heartbeatClient: KubeClient;
  /** For events. */
  eventClient: KubeClient;
  /** For tests: stages `status/read`, `status/patched`, `status/deleted`, `mirror/deleted`, `mirror/created`. */
  failpoint?: Failpoint;
};

type Required = 'manifestDir' | 'runtimeEndpoint' | 'nodeName' | 'logger';

/** The options with upstream's defaults for what is left out. */
export function kubeletOptions(given: Pick<KubeletOptions, Required> & Partial<KubeletOptions>): KubeletOptions {
  return {
    rootDir: '/var/lib/podwright/kubelet',
    podLogsDir: '/var/log/pods',
    containerLogsDir: '',
    manifestUrlHeaders: {},
    sourcePeriods: { fileMs: 20_000, urlMs: 20_000 },
    criApiVersion: 'auto',
    runtimeRequestTimeoutMs: 120_000,
    nodeIp: '',
    nodeLabels: {},
    cgroupRoot: '/podwright',
    cgroupDriver: 'auto',
    cgroupDriverFallback: 'cgroupfs',
    clusterDns: [],
    clusterDomain: 'cluster.local',
    warnOfMissingClusterDns: false,
    resolvConf: '/etc/resolv.conf',
    podCidr: '',
    objectChangeDetection: 'Watch',
    maxPods: 110,
    allowedUnsafeSysctls: [],
    seccompDefault: false,
    netRawDefault: true,
    userNamespaceIdsPerPod: 65_536,
    containerResources: DEFAULT_RESOURCE_POLICY,
    devicePluginDir: '',
    placement: NO_PLACEMENT,
    podPidsLimit: -1,
    systemReserved: NOTHING_RESERVED,
    enforceNodeAllocatable: true,
    reservedCgroups: [],
    images: {
      serializePulls: false,
      maxParallelPulls: 0,
      registryPullQps: 5,
      registryBurst: 10,
      pullBackoff: { initialMs: 10_000, maxMs: 300_000 },
      dockerConfigPaths: ['/var/lib/podwright/kubelet/config.json', '/root/.docker/config.json'],
      verification: { kind: 'NeverVerifyPreloadedImages' },
    },
    crashLoopBackoff: { initialMs: 10_000, maxMs: 300_000 },
    containerLog: { maxSizeBytes: 10 << 20, maxFiles: 5, maxWorkers: 1, monitorPeriodMs: 10_000 },
    imageGc: { highThresholdPercent: 85, lowThresholdPercent: 80, minAgeMs: 120_000, maxAgeMs: 0 },
    containerGc: { maxPerContainer: 1, maxContainers: -1, minAgeMs: 0 },
    eviction: DEFAULT_EVICTION,
    requirements: { noSwap: false, kernelDefaults: false },
    resyncPeriodMs: 60_000,
    shutdownPeriods: [],
    relist: { periodMs: 1000, eventedPeriodMs: 20_000 },
    orphanPeriodMs: ORPHAN_PERIOD_MS,
    server: kubeletServerOptions(),
    node: nodeSettings(),
    tracing: { endpoint: '', samplingRatePerMillion: 0 },
    ...given,
  };
}

/** The directory below which localhost seccomp profiles are, as upstream's. */
export function seccompRoot({ rootDir }: Pick<KubeletOptions, 'rootDir'>): string {
  return join(rootDir, 'seccomp');
}
