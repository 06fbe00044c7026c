import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger, PodwrightError, wrapError } from '@podwright/base';
import {
  type KubeletOptions,
  type KubeletServerConfiguration,
  type KubeletServerOptions,
  kubeletOptions,
  kubeletServerOptions,
  NOTHING_RESERVED,
  quantityValue,
} from '@podwright/kubelet';
import type { NodeConfig } from '../settings/node-config.ts';
import { dockerConfigsOf } from './configured-options.ts';
import { tracingOptions } from './tracing-options.ts';

/** Where a kubelet's runtime is, and what holds for pods where the configuration says nothing. */
export type KubeletPlace = Pick<KubeletOptions, 'runtimeEndpoint' | 'imageEndpoint' | 'criApiVersion' | 'metrics'> &
  Partial<Pick<KubeletOptions, 'cgroupDriver' | 'cgroupRoot'>> & { protection: PodProtection };

/** Ports of the kubelet's HTTP API where the configuration names none; 0 for none at all. */
export type ApiPorts = Pick<KubeletServerOptions, 'port' | 'healthzPort'>;

/** Those of every kubelet. */
export const UPSTREAM_PORTS: ApiPorts = { port: 10_250, healthzPort: 10_248 };

/** A lone node opens no ports unasked: its API is on its socket. */
export const LONE_NODE_PORTS: ApiPorts = { port: 0, healthzPort: 0 };

/** Settings that keep a pod from the node and from other pods. */
export type PodProtection = Pick<KubeletOptions, 'seccompDefault' | 'podPidsLimit' | 'systemReserved'>;

/** Upstream's defaults, for runtimes and clusters that count on them. */
export const UPSTREAM_PROTECTION: PodProtection = {
  seccompDefault: false,
  podPidsLimit: -1,
  systemReserved: NOTHING_RESERVED,
};

/**
 * No cluster watches over the pods of a lone node. 4096 processes and threads are OpenShift's limit of a pod: more than
 * servers with a thread a connection have, and an eighth of the ids of a kernel with the usual 32768.
 */
export const LONE_NODE_PROTECTION: PodProtection = {
  seccompDefault: existsSync('/proc/sys/kernel/seccomp/actions_avail'), // without filters every container would be refused
  podPidsLimit: 4096,
  systemReserved: { ...NOTHING_RESERVED, memoryBytes: 'auto', pids: 'auto' },
};

/** The kubelet's share of a node's settings. */
export function kubeletOptionsOf(config: NodeConfig, { protection, ...runtime }: KubeletPlace): KubeletOptions {
  const { kubelet } = config;
  const base = kubeletOptions({
    cgroupRoot: config.cgroup_parent,
    ...runtime,
    manifestDir: config.manifests,
    nodeName: config.node_name,
    logger: createLogger({ name: 'kubelet', level: config.log_level }),
  });
  return {
    ...base,
    rootDir: join(config.root, 'kubelet'),
    podLogsDir: config.pod_logs,
    manifestUrl: kubelet.static_pod_url,
    manifestUrlHeaders: kubelet.static_pod_url_header,
    clusterDns: kubelet.cluster_dns,
    clusterDomain: kubelet.cluster_domain,
    maxPods: kubelet.max_pods,
    tracing: tracingOptions(config),
    seccompDefault: kubelet.seccomp_default ?? protection.seccompDefault,
    podPidsLimit: kubelet.pod_pids_limit ?? protection.podPidsLimit,
    systemReserved: {
      ...NOTHING_RESERVED,
      memoryBytes: reservedMemory(kubelet.system_reserved.memory) ?? protection.systemReserved.memoryBytes,
      pids: kubelet.system_reserved.pid ?? protection.systemReserved.pids,
    },
    enforceNodeAllocatable: kubelet.enforce_node_allocatable,
    images: {
      ...base.images,
      serializePulls: kubelet.serialize_image_pulls,
      maxParallelPulls: kubelet.max_parallel_image_pulls,
      dockerConfigPaths: dockerConfigsOf(join(config.root, 'kubelet')),
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

/**
 * Where the kubelet's HTTP API is served, and to whom: what a KubeletConfiguration or a flag of one says, else the node's own
 * settings. Bearer tokens in a file are known to these alone.
 */
export function serverOptionsOf(
  { kubelet: { server } }: NodeConfig,
  ports: ApiPorts,
  configured: KubeletServerConfiguration | undefined,
): KubeletServerOptions {
  const base = kubeletServerOptions();
  if (configured !== undefined) return configuredServer(configured, server.token_file);
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

/** There is no API server to ask what anonymous callers may do: with `authorization.mode: Webhook` they may do nothing. */
function configuredServer(configured: KubeletServerConfiguration, tokenFile: string | undefined): KubeletServerOptions {
  const { enabled, healthz, tls, authentication, authorization } = configured;
  const { certDir, ...ownTls } = tls;
  return {
    address: configured.address,
    port: enabled ? configured.port : 0,
    readOnlyPort: enabled ? configured.readOnlyPort : 0,
    healthzBindAddress: healthz.bindAddress,
    healthzPort: healthz.port,
    tls: { ...ownTls, certDirectory: certDir },
    authentication: {
      anonymous: authentication.anonymous && authorization.mode === 'AlwaysAllow',
      clientCaFile: authentication.clientCaFile,
      tokenFile,
    },
    enableDebuggingHandlers: configured.enableDebuggingHandlers,
    enableSystemLogHandler: configured.enableSystemLogHandler,
    streamingConnectionIdleTimeoutMs: configured.streamingConnectionIdleTimeoutMs,
  };
}

/** `invalid_argument` for what is no amount of memory. */
function reservedMemory(quantity: string | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const what = 'read kubelet.system_reserved.memory';
  try {
    const bytes = Number(quantityValue(quantity));
    if (bytes >= 0) return bytes;
  } catch (error) {
    throw wrapError(what, error);
  }
  throw new PodwrightError('invalid_argument', `${what}: "${quantity}" is less than nothing`);
}
