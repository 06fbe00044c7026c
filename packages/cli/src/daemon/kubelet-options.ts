import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger, PodwrightError, wrapError } from '@podwright/base';
import { quantityValue } from '@podwright/kube-api';
import { type KubeletOptions, kubeletOptions } from '@podwright/kubelet';
import {
  type KubeletServerOptions,
  kubeletServerOptions,
  NOTHING_RESERVED,
  shutdownPeriods,
} from '@podwright/kubelet-configuration';
import type { NodeConfig } from '../settings/node-config.ts';
import { dockerConfigsOf } from './configured-options.ts';
import { tracingOptions } from './tracing-options.ts';

/** How a kubelet reaches its runtime, and the defaults of its settings. */
export type KubeletPlace = Pick<
  KubeletOptions,
  'runtimeEndpoint' | 'imageEndpoint' | 'criApiVersion' | 'metrics' | 'legacyLogs'
> &
  Partial<Pick<KubeletOptions, 'cgroupDriver' | 'cgroupRoot'>> & { defaults: KubeletDefaults };

/** Defaults of the settings that depend on the kind of node. */
export type KubeletDefaults = {
  protection: PodProtection;
  /** Ports of the kubelet's HTTP API, 0 to open none. */
  ports: Pick<KubeletServerOptions, 'port' | 'healthzPort'>;
};

/** Settings that protect the node and other pods from a pod. */
type PodProtection = Pick<KubeletOptions, 'seccompDefault' | 'netRawDefault' | 'podPidsLimit' | 'systemReserved'>;

/** Upstream's defaults, for runtimes and clusters that rely on them. */
export const UPSTREAM_DEFAULTS: KubeletDefaults = {
  protection: {
    seccompDefault: false,
    netRawDefault: true,
    podPidsLimit: -1,
    systemReserved: NOTHING_RESERVED,
  },
  ports: { port: 10_250, healthzPort: 10_248 },
};

/**
 * Defaults of a standalone node, which no cluster monitors. 4096 is OpenShift's limit of processes and threads per pod: it suffices for
 * servers with a thread per connection, and is an eighth of the usual 32768 PIDs. No ports are open by default, since the API is on a
 * socket.
 */
export const LONE_NODE_DEFAULTS: KubeletDefaults = {
  protection: {
    seccompDefault: existsSync('/proc/sys/kernel/seccomp/actions_avail'), // without seccomp filters, the runtime would refuse every container
    netRawDefault: false,
    podPidsLimit: 4096,
    systemReserved: { ...NOTHING_RESERVED, memoryBytes: 'auto', pids: 'auto' },
  },
  ports: { port: 0, healthzPort: 0 },
};

/** The options of the kubelet from a node's settings. */
export function kubeletOptionsOf(config: NodeConfig, { defaults, ...runtime }: KubeletPlace): KubeletOptions {
  const { protection, ports } = defaults;
  const { kubelet } = config;
  const { eviction } = kubelet;
  const base = kubeletOptions({
    cgroupRoot: config.cgroup_parent,
    ...runtime,
    manifestDir: config.manifests,
    nodeName: config.node_name,
    server: serverOptions(config, ports),
    logger: createLogger({ name: 'kubelet', level: config.log_level }),
  });
  return {
    ...base,
    rootDir: join(config.root, 'kubelet'),
    podLogsDir: config.pod_logs,
    containerLogsDir: config.container_logs,
    manifestUrl: kubelet.static_pod_url,
    manifestUrlHeaders: kubelet.static_pod_url_header,
    clusterDns: kubelet.cluster_dns,
    clusterDomain: kubelet.cluster_domain,
    maxPods: kubelet.max_pods,
    tracing: tracingOptions(config),
    seccompDefault: kubelet.seccomp_default ?? protection.seccompDefault,
    netRawDefault: kubelet.net_raw_default ?? protection.netRawDefault,
    devicePluginDir: kubelet.device_plugin_dir ?? base.devicePluginDir,
    podPidsLimit: kubelet.pod_pids_limit ?? protection.podPidsLimit,
    systemReserved: {
      ...NOTHING_RESERVED,
      memoryBytes: reservedMemory(kubelet.system_reserved.memory) ?? protection.systemReserved.memoryBytes,
      pids: kubelet.system_reserved.pid ?? protection.systemReserved.pids,
    },
    enforceNodeAllocatable: kubelet.enforce_node_allocatable,
    eviction: {
      ...base.eviction,
      hard: eviction.hard ?? base.eviction.hard,
      soft: eviction.soft,
      softGracePeriod: eviction.soft_grace_period,
      minimumReclaim: eviction.minimum_reclaim,
      transitionMs: eviction.pressure_transition_period_seconds * 1000,
      maxPodGraceSeconds: eviction.max_pod_grace_period_seconds,
    },
    node: { ...base.node, evictionHard: eviction.hard ?? base.node.evictionHard },
    shutdownPeriods: shutdownPeriods({
      shutdownGracePeriod: kubelet.shutdown_grace_period_seconds * 1000,
      shutdownGracePeriodCriticalPods: kubelet.shutdown_critical_pods_seconds * 1000,
      shutdownGracePeriodByPodPriority: [],
    }),
    images: {
      ...base.images,
      serializePulls: kubelet.serialize_image_pulls,
      maxParallelPulls: kubelet.max_parallel_image_pulls,
      dockerConfigPaths: dockerConfigsOf(join(config.root, 'kubelet')),
      verification: { kind: 'NeverVerify' }, // users who may add pods may read all images anyway
    },
    crashLoopBackoff: {
      initialMs: Math.min(10_000, kubelet.max_container_restart_period_seconds * 1000),
      maxMs: kubelet.max_container_restart_period_seconds * 1000,
    },
    containerLog: {
      ...base.containerLog,
      maxSizeBytes: Number(quantityValue(kubelet.container_log_max_size)),
      maxFiles: kubelet.container_log_max_files,
    },
  };
}

/** The options of the kubelet's HTTP API: ports, TLS and authentication. */
function serverOptions({ kubelet: { server } }: NodeConfig, ports: KubeletDefaults['ports']): KubeletServerOptions {
  const base = kubeletServerOptions();
  return {
    ...base,
    address: server.address,
    port: server.port ?? ports.port,
    healthzPort: server.healthz_port ?? ports.healthzPort,
    tls: { ...base.tls, certFile: server.tls_cert_file, privateKeyFile: server.tls_private_key_file },
    authentication: {
      anonymous: server.anonymous_auth,
      clientCaFile: server.client_ca_file,
      tokenFile: server.token_file,
    },
  };
}

/** Parses an amount of memory. Throws `invalid_argument` if it is invalid or negative. */
function reservedMemory(quantity: string | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const what = 'read kubelet.system_reserved.memory';
  try {
    const bytes = Number(quantityValue(quantity));
    if (bytes >= 0) return bytes;
  } catch (error) {
    throw wrapError(what, error);
  }
  throw new PodwrightError('invalid_argument', `${what}: "${quantity}" is negative`);
}
