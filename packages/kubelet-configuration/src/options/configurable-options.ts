import type { TracingOptions } from '@podwright/base';
import type { CriApiVersion } from '@podwright/cri';
import type { VerificationPolicy } from '../verification-policy.ts';
import { DEFAULT_EVICTION, type EvictionOptions } from './eviction-options.ts';
import type { HostRequirements } from './host-requirements.ts';
import { type NodeSettings, nodeSettings } from './node-settings.ts';
import { NO_PLACEMENT, type PlacementOptions } from './placement-options.ts';
import type { ReservedCgroup } from './reserved-cgroup.ts';
import { DEFAULT_RESOURCE_POLICY, type ResourcePolicy } from './resource-policy.ts';
import { type KubeletServerOptions, kubeletServerOptions } from './server-options.ts';
import type { ShutdownPeriod } from './shutdown-periods.ts';
import { NOTHING_RESERVED, type SystemReserved } from './system-reserved.ts';

/**
 * The options of a kubelet that settings can set: plain data. Paths are absolute. Kubelets with different paths can run on one host. The
 * name in parentheses is upstream's setting of the same meaning: a field of KubeletConfiguration, or a flag.
 */
export type ConfigurableOptions = {
  /** Persistent data: volumes and hosts files of pods (`--root-dir`). Default: /var/lib/podwright/kubelet. */
  rootDir: string;
  /** Container logs, as `<namespace>_<pod>_<uid>/<container>/<attempt>.log` (`podLogsDir`). Default: /var/log/pods. */
  podLogsDir: string;
  /**
   * Directory of links to the container logs, as `<pod>_<namespace>_<container>-<id>.log`, for log collectors (upstream's
   * /var/log/containers). Default: '', no links.
   */
  containerLogsDir: string;
  /** Directory of manifests (`staticPodPath`). If a file is removed, its pods are deleted. */
  manifestDir: string;
  /** URL of further manifests (`staticPodURL`). Default: none. */
  manifestUrl?: string;
  /** Headers of requests for `manifestUrl` (`staticPodURLHeader`). */
  manifestUrlHeaders: Record<string, string[]>;
  /**
   * Period in which the directory is read again although no change was seen (`fileCheckFrequency`), and period of requests for the
   * URL (`httpCheckFrequency`). Default: 20 s.
   */
  sourcePeriods: { fileMs: number; urlMs: number };
  /** The CRI runtime: `unix:///path`, an absolute path, or `tcp://host:port` (`containerRuntimeEndpoint`). */
  runtimeEndpoint: string;
  /** The CRI image service, if it is not at `runtimeEndpoint` (`imageServiceEndpoint`). */
  imageEndpoint?: string;
  /** Default: `auto`, v1, or v1alpha2 if the runtime does not support v1. */
  criApiVersion: CriApiVersion | 'auto';
  /** Deadline of calls to the runtime (`runtimeRequestTimeout`). Calls that may take longer, such as pulls, have their own. Default: 2 min. */
  runtimeRequestTimeoutMs: number;
  /** Name of the node (`--hostname-override`). */
  nodeName: string;
  /**
   * Address of the node in the statuses of pods, or one of each family separated by a comma (`--node-ip`). Default: '', the address
   * of the default route, IPv4 first; `::` and `0.0.0.0` are the same with the family of that address first.
   */
  nodeIp: string;
  /** Labels of the node object besides the standard ones (`--node-labels`). */
  nodeLabels: Record<string, string>;
  /** Parent of the cgroups of pods (`cgroupRoot`); '' leaves cgroups to the runtime. Default: /podwright. */
  cgroupRoot: string;
  /** Whether cgroups are directories or slices of systemd (`cgroupDriver`). Default: `auto`, the driver of the runtime. */
  cgroupDriver: 'auto' | 'cgroupfs' | 'systemd';
  /** The driver for `auto` if the runtime does not report its own. Default: cgroupfs. */
  cgroupDriverFallback: 'cgroupfs' | 'systemd';
  /** DNS servers of pods with the DNS policy ClusterFirst (`clusterDNS`). Default: none. */
  clusterDns: string[];
  /** DNS domain of the cluster (`clusterDomain`). Default: cluster.local. */
  clusterDomain: string;
  /** Whether pods with ClusterFirst get upstream's warning event while `clusterDns` is empty. Default: false. */
  warnOfMissingClusterDns: boolean;
  /** File with the DNS settings of pods (`resolvConf`). Default: /etc/resolv.conf. */
  resolvConf: string;
  /** Subnet of pods, which the kubelet sends to the runtime (`podCIDR`). Default: '', the runtime has its own. */
  podCidr: string;
  /** The most pods on the node (`maxPods`). Default: 110. */
  maxPods: number;
  /** Unsafe sysctls that pods may set; a name may end with `*` (`allowedUnsafeSysctls`). Default: none. */
  allowedUnsafeSysctls: string[];
  /** Whether containers without a seccomp profile get the runtime's default profile (`seccompDefault`). Default: false. */
  seccompDefault: boolean;
  /** Whether containers have the capability NET_RAW unless they drop it; otherwise only those that add it. Default: true. */
  netRawDefault: boolean;
  /** Number of user ids of the host for each pod with a user namespace, a multiple of 65536 (`userNamespaces.idsPerPod`). Default: 65536. */
  userNamespaceIdsPerPod: number;
  /** How the requests and limits of containers become settings of cgroups. */
  containerResources: ResourcePolicy;
  /** Directory of the sockets of device plugins, and of the record of assigned devices. Default: '', `rootDir/device-plugins`. */
  devicePluginDir: string;
  /** Policies that give containers exclusive CPUs, and memory of single NUMA nodes. Default: none. */
  placement: PlacementOptions;
  /** The most processes and threads of a pod (`podPidsLimit`). Default: -1, no limit. */
  podPidsLimit: number;
  /** Resources that are reserved for everything on the node except pods (`systemReserved` and `kubeReserved`). */
  systemReserved: SystemReserved;
  /** Whether the cgroup of all pods is limited to the node less `systemReserved` (`enforceNodeAllocatable`: pods). Default: true. */
  enforceNodeAllocatable: boolean;
  /** Cgroups of the host that are limited to their reservations (`systemReservedCgroup`, `kubeReservedCgroup`). Default: none. */
  reservedCgroups: ReservedCgroup[];
  images: {
    /** One pull at a time (`serializeImagePulls`). Default: false. */
    serializePulls: boolean;
    /** The most pulls at once (`maxParallelImagePulls`). Default: 0, no limit. */
    maxParallelPulls: number;
    /** Pulls per second on average, 0 for no limit, and in a burst (`registryPullQPS`, `registryBurst`). Default: 5 and 10. */
    registryPullQps: number;
    registryBurst: number;
    /** Delays between failed pulls of an image. Default: 10 s to 5 min. */
    pullBackoff: { initialMs: number; maxMs: number };
    /** Docker configuration files with registry credentials. */
    dockerConfigPaths: string[];
    /** CredentialProviderConfig file, and directory of its programs (`--image-credential-provider-config`, `-bin-dir`). Default: none. */
    credentialProviders?: { config: string; directory: string };
    /** Which images on the node a pod may use only if its credentials could pull them (`imagePullCredentialsVerificationPolicy`). */
    verification: VerificationPolicy;
  };
  /** Delays between restarts of a container that fails (`crashLoopBackOff`). Default: 10 s to 5 min. */
  crashLoopBackoff: { initialMs: number; maxMs: number };
  /**
   * Rotation of container logs: size at which a file is rotated, -1 for never, and number of files (`containerLogMaxSize`,
   * `containerLogMaxFiles`); number of logs compressed at once, and period of the checks (`containerLogMaxWorkers`,
   * `containerLogMonitorInterval`). Default: 10 MiB, 5 files, 1 log, 10 s.
   */
  containerLog: { maxSizeBytes: number; maxFiles: number; maxWorkers: number; monitorPeriodMs: number };
  imageGc: {
    /**
     * Usage of the image file system in percent at which unused images are removed, and at which the removal ends
     * (`imageGCHighThresholdPercent`, `imageGCLowThresholdPercent`). Default: 85 and 80.
     */
    highThresholdPercent: number;
    lowThresholdPercent: number;
    /** Images that were used more recently are not removed (`imageMinimumGCAge`). Default: 2 min. */
    minAgeMs: number;
    /** Images that were not used for this time are always removed (`imageMaximumGCAge`). Default: 0, never. */
    maxAgeMs: number;
  };
  /**
   * Number of exited containers to keep for each container, and for all, -1 for no limit (`--maximum-dead-containers-per-container`,
   * `--maximum-dead-containers`); those that exited more recently than the age are kept (`--minimum-container-ttl-duration`).
   */
  containerGc: { maxPerContainer: number; maxContainers: number; minAgeMs: number };
  /** Thresholds at which pods are evicted because the node is short of resources (`evictionHard` and others). */
  eviction: EvictionOptions;
  /** oom_score_adj of this process, or the nearest value that is permitted (`oomScoreAdj`). Default: it is not changed. */
  oomScoreAdj?: number;
  /**
   * Requirements on the host without which the kubelet does not start (`failSwapOn`, `protectKernelDefaults`). Default: no requirements.
   */
  requirements: HostRequirements;
  /** Period in which each pod is synced although nothing has changed (`syncFrequency`). Default: 1 min. */
  resyncPeriodMs: number;
  /**
   * Time for pods to end before the host shuts down, pods of low priority first (`shutdownGracePeriodByPodPriority`). Default: none,
   * a shutdown is not delayed.
   */
  shutdownPeriods: ShutdownPeriod[];
  /** Periods of listings of the runtime's pods, without and with events from the runtime. Default: 1 s and 20 s. */
  relist: { periodMs: number; eventedPeriodMs: number };
  /** Period in which pods that no source has are ended, and their files are removed. Default: 1 min. */
  orphanPeriodMs: number;
  /** The HTTP API; `serveKubeletApi` serves it. */
  server: KubeletServerOptions;
  /** Settings of the node object. Used only with `cluster`. */
  node: NodeSettings;
  /** Collector for the traces of syncs, and the share of syncs that are traced (`tracing`). Default: none. */
  tracing: TracingOptions;
  /**
   * How changes of ConfigMaps and Secrets of the API server are noticed: by watches, by reading them again when they are old, or by
   * reading them each time (`configMapAndSecretChangeDetectionStrategy`). Default: Watch.
   */
  objectChangeDetection: 'Watch' | 'Cache' | 'Get';
};

type Required = 'manifestDir' | 'runtimeEndpoint' | 'nodeName';

/** The given options, with the defaults of the others. */
export function configurableOptions(
  given: Pick<ConfigurableOptions, Required> & Partial<ConfigurableOptions>,
): ConfigurableOptions {
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
    orphanPeriodMs: 60_000,
    server: kubeletServerOptions(),
    node: nodeSettings(),
    tracing: { endpoint: '', samplingRatePerMillion: 0 },
    ...given,
  };
}
