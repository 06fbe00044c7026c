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
 * The options of a kubelet that users can configure, as plain data. Paths are absolute; kubelets with different paths can run on one host.
 * Names in parentheses are upstream's settings with the same meaning: a field of KubeletConfiguration, or a flag.
 */
export type ConfigurableOptions = {
  /** Directory for persistent data: volumes and hosts files of pods (`--root-dir`). Default: /var/lib/podwright/kubelet. */
  rootDir: string;
  /** Directory for container logs, `<namespace>_<pod>_<uid>/<container>/<attempt>.log` (`podLogsDir`). Default: /var/log/pods. */
  podLogsDir: string;
  /**
   * Directory for links to the container logs, `<pod>_<namespace>_<container>-<id>.log`, which log collectors use (upstream's
   * /var/log/containers). Default: '', no links.
   */
  containerLogsDir: string;
  /** Directory of manifests (`staticPodPath`). Removing a file deletes its pods. */
  manifestDir: string;
  /** URL from which further manifests are read (`staticPodURL`). Default: none. */
  manifestUrl?: string;
  /** Headers of requests for `manifestUrl` (`staticPodURLHeader`). */
  manifestUrlHeaders: Record<string, string[]>;
  /**
   * How often to read the directory even if no change was noticed (`fileCheckFrequency`), and how often to request the URL
   * (`httpCheckFrequency`). Default: 20 s.
   */
  sourcePeriods: { fileMs: number; urlMs: number };
  /** Endpoint of the CRI runtime: `unix:///path`, an absolute path, or `tcp://host:port` (`containerRuntimeEndpoint`). */
  runtimeEndpoint: string;
  /** Endpoint of the CRI image service, if it is not `runtimeEndpoint` (`imageServiceEndpoint`). */
  imageEndpoint?: string;
  /** Version of the CRI. Default: `auto`, v1 or, if the runtime does not support it, v1alpha2. */
  criApiVersion: CriApiVersion | 'auto';
  /** Deadline of calls to the runtime (`runtimeRequestTimeout`). Longer calls, such as pulls, have their own. Default: 2 min. */
  runtimeRequestTimeoutMs: number;
  /** Name of the node (`--hostname-override`). */
  nodeName: string;
  /**
   * Address of the node in the statuses of pods, or one of each IP family separated by a comma (`--node-ip`). Default: '', the address of
   * the default route, IPv4 first; with `::` or `0.0.0.0` it is the same, with the family of that address first.
   */
  nodeIp: string;
  /** Labels of the node object in addition to the standard ones (`--node-labels`). */
  nodeLabels: Record<string, string>;
  /** Parent cgroup of the pods' cgroups (`cgroupRoot`); '' leaves cgroups to the runtime. Default: /podwright. */
  cgroupRoot: string;
  /** Whether cgroups are created as directories or as systemd slices (`cgroupDriver`). Default: `auto`, the runtime's driver. */
  cgroupDriver: 'auto' | 'cgroupfs' | 'systemd';
  /** The driver to use for `auto` if the runtime does not report its own. Default: cgroupfs. */
  cgroupDriverFallback: 'cgroupfs' | 'systemd';
  /** DNS servers of pods with the DNS policy ClusterFirst (`clusterDNS`). Default: none. */
  clusterDns: string[];
  /** DNS domain of the cluster (`clusterDomain`). Default: cluster.local. */
  clusterDomain: string;
  /** Whether pods with the DNS policy ClusterFirst get upstream's warning event while `clusterDns` is empty. Default: false. */
  warnOfMissingClusterDns: boolean;
  /** File from which pods get their DNS settings (`resolvConf`). Default: /etc/resolv.conf. */
  resolvConf: string;
  /** Subnet of pods, which the kubelet passes to the runtime (`podCIDR`). Default: '', the runtime uses its own. */
  podCidr: string;
  /** Maximum number of pods on the node (`maxPods`). Default: 110. */
  maxPods: number;
  /** Unsafe sysctls that pods may set; a name may end with `*` (`allowedUnsafeSysctls`). Default: none. */
  allowedUnsafeSysctls: string[];
  /** Whether containers without a seccomp profile get the runtime's default profile (`seccompDefault`). Default: false. */
  seccompDefault: boolean;
  /** Whether containers have the capability NET_RAW unless they drop it. If false, only containers that add it have it. Default: true. */
  netRawDefault: boolean;
  /** Number of host user IDs for each pod with a user namespace, a multiple of 65536 (`userNamespaces.idsPerPod`). Default: 65536. */
  userNamespaceIdsPerPod: number;
  /** How requests and limits of containers are enforced by cgroups. */
  containerResources: ResourcePolicy;
  /** Directory for the sockets of device plugins and the record of assigned devices. Default: '', `rootDir/device-plugins`. */
  devicePluginDir: string;
  /** Policies that assign exclusive CPUs, and memory of single NUMA nodes, to containers. Default: none. */
  placement: PlacementOptions;
  /** Maximum number of processes and threads in a pod (`podPidsLimit`). Default: -1, no limit. */
  podPidsLimit: number;
  /** Resources reserved for everything on the node except pods (`systemReserved` and `kubeReserved`). */
  systemReserved: SystemReserved;
  /**
   * Whether the pods' parent cgroup is limited to the node's capacity less `systemReserved` (`enforceNodeAllocatable`: pods). Default:
   * true.
   */
  enforceNodeAllocatable: boolean;
  /** Host cgroups that are limited to their reservations (`systemReservedCgroup`, `kubeReservedCgroup`). Default: none. */
  reservedCgroups: ReservedCgroup[];
  images: {
    /** Whether to pull one image at a time (`serializeImagePulls`). Default: false. */
    serializePulls: boolean;
    /** Maximum number of concurrent pulls (`maxParallelImagePulls`). Default: 0, no limit. */
    maxParallelPulls: number;
    /** Average number of pulls per second, 0 for no limit, and the burst (`registryPullQPS`, `registryBurst`). Default: 5 and 10. */
    registryPullQps: number;
    registryBurst: number;
    /** Backoff between failed pulls of an image. Default: 10 s to 5 min. */
    pullBackoff: { initialMs: number; maxMs: number };
    /** Docker configuration files with registry credentials. */
    dockerConfigPaths: string[];
    /**
     * A CredentialProviderConfig file and the directory with its plugins (`--image-credential-provider-config`, `-bin-dir`). Default: none.
     */
    credentialProviders?: { config: string; directory: string };
    /** Selects the images on the node that a pod may only use if it could pull them (`imagePullCredentialsVerificationPolicy`). */
    verification: VerificationPolicy;
  };
  /** Backoff between restarts of a failing container (`crashLoopBackOff`). Default: 10 s to 5 min. */
  crashLoopBackoff: { initialMs: number; maxMs: number };
  /**
   * Rotation of container logs: the size at which a file is rotated, -1 for never, and the number of files (`containerLogMaxSize`,
   * `containerLogMaxFiles`); the number of logs compressed at the same time, and the interval of the checks (`containerLogMaxWorkers`,
   * `containerLogMonitorInterval`). Default: 10 MiB, 5 files, 1 log, 10 s.
   */
  containerLog: { maxSizeBytes: number; maxFiles: number; maxWorkers: number; monitorPeriodMs: number };
  imageGc: {
    /**
     * Usage of the image file system, in percent, at which the garbage collection of unused images starts, and down to which it goes
     * (`imageGCHighThresholdPercent`, `imageGCLowThresholdPercent`). Default: 85 and 80.
     */
    highThresholdPercent: number;
    lowThresholdPercent: number;
    /** Minimum time without use before an image may be removed (`imageMinimumGCAge`). Default: 2 min. */
    minAgeMs: number;
    /** Time without use after which an image is always removed (`imageMaximumGCAge`). Default: 0, never. */
    maxAgeMs: number;
  };
  /**
   * Number of exited containers to keep per container and in total, -1 for no limit (`--maximum-dead-containers-per-container`,
   * `--maximum-dead-containers`), and the age up to which an exited container is always kept (`--minimum-container-ttl-duration`).
   */
  containerGc: { maxPerContainer: number; maxContainers: number; minAgeMs: number };
  /** Thresholds for evicting pods when the node runs short of resources (`evictionHard` and others). */
  eviction: EvictionOptions;
  /** oom_score_adj of this process; if it is not permitted, the nearest permitted value is used (`oomScoreAdj`). Default: unchanged. */
  oomScoreAdj?: number;
  /** Host settings that the kubelet requires in order to start (`failSwapOn`, `protectKernelDefaults`). Default: none. */
  requirements: HostRequirements;
  /** How often to sync each pod even if nothing has changed (`syncFrequency`). Default: 1 min. */
  resyncPeriodMs: number;
  /**
   * Time that pods have to terminate before the host shuts down, lowest priority first (`shutdownGracePeriodByPodPriority`). Default: none;
   * shutdowns are not delayed.
   */
  shutdownPeriods: ShutdownPeriod[];
  /** How often to list the runtime's pods, without and with events from the runtime. Default: 1 s and 20 s. */
  relist: { periodMs: number; eventedPeriodMs: number };
  /** How often to kill pods that no source has, and to remove their files. Default: 1 min. */
  orphanPeriodMs: number;
  /** Options of the HTTP API, which `serveKubeletApi` serves. */
  server: KubeletServerOptions;
  /** Settings of the node object, used only with `cluster`. */
  node: NodeSettings;
  /** Collector for the traces of syncs, and the share of syncs to trace (`tracing`). Default: none. */
  tracing: TracingOptions;
  /**
   * How to notice changes of the API server's ConfigMaps and Secrets: by watching them, by reading them again after some time, or by
   * reading them for every use (`configMapAndSecretChangeDetectionStrategy`). Default: Watch.
   */
  objectChangeDetection: 'Watch' | 'Cache' | 'Get';
};

type Required = 'manifestDir' | 'runtimeEndpoint' | 'nodeName';

/** Returns the given options, with defaults for the others. */
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
