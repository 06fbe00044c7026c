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
 * A kubelet's user-configurable options, as plain data. Paths are absolute; kubelets with different paths can run on the same host.
 * Parentheses name the equivalent upstream settings: KubeletConfiguration fields or flags.
 */
export type ConfigurableOptions = {
  /** Directory for persistent data, such as pod volumes and hosts files (`--root-dir`). Default: /var/lib/podwright/kubelet. */
  rootDir: string;
  /** Directory for container logs, `<namespace>_<pod>_<uid>/<container>/<attempt>.log` (`podLogsDir`). Default: /var/log/pods. */
  podLogsDir: string;
  /**
   * Directory for symbolic links to the container logs, `<pod>_<namespace>_<container>-<id>.log`, as used by log collectors (upstream's
   * /var/log/containers). Default: '', which creates no links.
   */
  containerLogsDir: string;
  /** Directory of static pod manifests (`staticPodPath`). Removing a file deletes its pods. */
  manifestDir: string;
  /** URL of additional manifests (`staticPodURL`). Default: none. */
  manifestUrl?: string;
  /** Headers sent with requests to `manifestUrl` (`staticPodURLHeader`). */
  manifestUrlHeaders: Record<string, string[]>;
  /**
   * How often the manifest directory is reread even if no change was detected (`fileCheckFrequency`), and how often the manifest URL is
   * polled (`httpCheckFrequency`). Default: 20 seconds.
   */
  sourcePeriods: { fileMs: number; urlMs: number };
  /**
   * Endpoint of the container runtime's CRI service: `unix:///path`, an absolute path, or `tcp://host:port` (`containerRuntimeEndpoint`).
   */
  runtimeEndpoint: string;
  /** Endpoint of the CRI image service, if it differs from `runtimeEndpoint` (`imageServiceEndpoint`). */
  imageEndpoint?: string;
  /** CRI API version. Default: `auto`, v1 or, if the container runtime does not support it, v1alpha2. */
  criApiVersion: CriApiVersion | 'auto';
  /**
   * Deadline for calls to the container runtime (`runtimeRequestTimeout`). Long-running calls, such as image pulls, have their own.
   * Default: 2 minutes.
   */
  runtimeRequestTimeoutMs: number;
  /** The node's name (`--hostname-override`). */
  nodeName: string;
  /**
   * The node's address in pod statuses, or a comma-separated pair with one address per IP family (`--node-ip`). Default: '', the address of
   * the default route, IPv4 first. `::` and `0.0.0.0` do the same, but put their own IP family first.
   */
  nodeIp: string;
  /** Labels added to the Node object on top of the standard ones (`--node-labels`). */
  nodeLabels: Record<string, string>;
  /** Parent cgroup of the pod cgroups (`cgroupRoot`); '' leaves cgroups to the container runtime. Default: /podwright. */
  cgroupRoot: string;
  /** Whether to create cgroups as directories or as systemd slices (`cgroupDriver`). Default: `auto`, the container runtime's driver. */
  cgroupDriver: 'auto' | 'cgroupfs' | 'systemd';
  /** Cgroup driver for `auto` if the container runtime does not report one. Default: cgroupfs. */
  cgroupDriverFallback: 'cgroupfs' | 'systemd';
  /** DNS servers for pods with the DNS policy ClusterFirst (`clusterDNS`). Default: none. */
  clusterDns: string[];
  /** The cluster's DNS domain (`clusterDomain`). Default: cluster.local. */
  clusterDomain: string;
  /** Whether pods with the DNS policy ClusterFirst get upstream's warning event if `clusterDns` is empty. Default: false. */
  warnOfMissingClusterDns: boolean;
  /** File to take the pods' DNS settings from (`resolvConf`). Default: /etc/resolv.conf. */
  resolvConf: string;
  /** CIDR block for pod IPs, passed to the container runtime (`podCIDR`). Default: '', the container runtime's own. */
  podCidr: string;
  /** Maximum number of pods on the node (`maxPods`). Default: 110. */
  maxPods: number;
  /** Unsafe sysctls that pods may set; a name may end with `*` (`allowedUnsafeSysctls`). Default: none. */
  allowedUnsafeSysctls: string[];
  /** Whether containers without a seccomp profile get the container runtime's default profile (`seccompDefault`). Default: false. */
  seccompDefault: boolean;
  /** Whether containers have the NET_RAW capability by default. If false, only containers that add it have it. Default: true. */
  netRawDefault: boolean;
  /** Number of host user IDs per user-namespaced pod; must be a multiple of 65536 (`userNamespaces.idsPerPod`). Default: 65536. */
  userNamespaceIdsPerPod: number;
  /** How cgroups enforce container requests and limits. */
  containerResources: ResourcePolicy;
  /** Directory for device plugin sockets and the device assignment checkpoint. Default: '', `rootDir/device-plugins`. */
  devicePluginDir: string;
  /** Policies for assigning exclusive CPUs, and memory from single NUMA nodes, to containers. Default: none. */
  placement: PlacementOptions;
  /** Maximum number of processes and threads in a pod (`podPidsLimit`). Default: -1, no limit. */
  podPidsLimit: number;
  /** Resources reserved for everything on the node except pods (`systemReserved` and `kubeReserved`). */
  systemReserved: SystemReserved;
  /**
   * Whether to limit the pods' parent cgroup to the node's capacity minus `systemReserved` (`enforceNodeAllocatable`: pods). Default: true.
   */
  enforceNodeAllocatable: boolean;
  /** Host cgroups to limit to their reservations (`systemReservedCgroup`, `kubeReservedCgroup`). Default: none. */
  reservedCgroups: ReservedCgroup[];
  images: {
    /** Whether to pull images one at a time (`serializeImagePulls`). Default: false. */
    serializePulls: boolean;
    /** Maximum number of concurrent image pulls (`maxParallelImagePulls`). Default: 0, no limit. */
    maxParallelPulls: number;
    /**
     * Average number of image pulls per second (0 for no limit) and the maximum burst (`registryPullQPS`, `registryBurst`). Default: 5 and
     * 10.
     */
    registryPullQps: number;
    registryBurst: number;
    /** Backoff after failed image pulls. Default: 10 seconds to 5 minutes. */
    pullBackoff: { initialMs: number; maxMs: number };
    /** Docker configuration files with registry credentials. */
    dockerConfigPaths: string[];
    /**
     * A CredentialProviderConfig file and the directory that contains its plugin binaries (`--image-credential-provider-config`,
     * `--image-credential-provider-bin-dir`). Default: none.
     */
    credentialProviders?: { config: string; directory: string };
    /**
     * Determines which images already on the node require pods to have their own pull credentials
     * (`imagePullCredentialsVerificationPolicy`).
     */
    verification: VerificationPolicy;
  };
  /** Backoff between restarts of a failing container (`crashLoopBackOff`). Default: 10 seconds to 5 minutes. */
  crashLoopBackoff: { initialMs: number; maxMs: number };
  /**
   * Container log rotation: the size at which a file is rotated (-1 for never) and the number of files to keep (`containerLogMaxSize`,
   * `containerLogMaxFiles`); the number of logs compressed concurrently, and how often logs are checked (`containerLogMaxWorkers`,
   * `containerLogMonitorInterval`). Default: 10 MiB, 5 files, 1 log, 10 seconds.
   */
  containerLog: { maxSizeBytes: number; maxFiles: number; maxWorkers: number; monitorPeriodMs: number };
  imageGc: {
    /**
     * Image file system usage, in percent, at which image garbage collection starts and down to which it removes unused images
     * (`imageGCHighThresholdPercent`, `imageGCLowThresholdPercent`). Default: 85 and 80.
     */
    highThresholdPercent: number;
    lowThresholdPercent: number;
    /** Minimum time an image must be unused before it may be removed (`imageMinimumGCAge`). Default: 2 minutes. */
    minAgeMs: number;
    /** How long after its last use an image is removed, regardless of disk usage (`imageMaximumGCAge`). Default: 0, never. */
    maxAgeMs: number;
  };
  /**
   * Maximum number of exited containers to keep per container and in total, -1 for no limit (`--maximum-dead-containers-per-container`,
   * `--maximum-dead-containers`), and the minimum age at which one may be removed (`--minimum-container-ttl-duration`).
   */
  containerGc: { maxPerContainer: number; maxContainers: number; minAgeMs: number };
  /** Thresholds for evicting pods when the node runs low on resources (`evictionHard` and others). */
  eviction: EvictionOptions;
  /**
   * oom_score_adj of this process (`oomScoreAdj`). If the value is not permitted, the nearest permitted one is used. Default: unchanged.
   */
  oomScoreAdj?: number;
  /** Host settings required for the kubelet to start (`failSwapOn`, `protectKernelDefaults`). Default: none. */
  requirements: HostRequirements;
  /** How often to sync each pod even if nothing has changed (`syncFrequency`). Default: 1 minute. */
  resyncPeriodMs: number;
  /**
   * How long to delay a host shutdown for pods to terminate, lowest priority first (`shutdownGracePeriodByPodPriority`). Default: none;
   * shutdowns are not delayed.
   */
  shutdownPeriods: ShutdownPeriod[];
  /** How often the container runtime's pods are relisted, without and with CRI events. Default: 1 second and 20 seconds. */
  relist: { periodMs: number; eventedPeriodMs: number };
  /** How often pods that have disappeared from all pod sources are killed and their files removed. Default: 1 minute. */
  orphanPeriodMs: number;
  /** Options for the HTTP API served by `serveKubeletApi`. */
  server: KubeletServerOptions;
  /** Settings for the Node object, used only with `cluster`. */
  node: NodeSettings;
  /** Collector for pod sync traces, and the fraction of syncs to trace (`tracing`). Default: none. */
  tracing: TracingOptions;
  /**
   * How to detect changes to the API server's ConfigMaps and Secrets: by watching them, by rereading them after some time, or by reading
   * them on every use (`configMapAndSecretChangeDetectionStrategy`). Default: Watch.
   */
  objectChangeDetection: 'Watch' | 'Cache' | 'Get';
};

type Required = 'manifestDir' | 'runtimeEndpoint' | 'nodeName';

/** Returns the options, with defaults filled in for unset ones. */
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
