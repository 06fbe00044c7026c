import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '@podwright/base';
import { type KubeletOptions, kubeletOptions } from '@podwright/kubelet';
import {
  fieldsOfTable,
  type KubeletServerOptions,
  kubeletServerOptions,
  NOTHING_RESERVED,
  optionsOfTable,
} from '@podwright/kubelet-configuration';
import type { NodeConfig } from '../settings/node-config.ts';
import { tracingOptions } from './tracing-options.ts';

/** How a kubelet connects to its container runtime, and the defaults for its settings. */
export type KubeletPlace = Pick<
  KubeletOptions,
  'runtimeEndpoint' | 'imageEndpoint' | 'criApiVersion' | 'metrics' | 'legacyLogs' | 'tmpfs'
> &
  Partial<Pick<KubeletOptions, 'cgroupDriver' | 'cgroupRoot'>> & { defaults: KubeletDefaults };

/** Defaults for the settings that depend on the type of node. */
export type KubeletDefaults = {
  protection: PodProtection;
  /** Ports of the kubelet's HTTP servers; 0 disables a server. */
  ports: Pick<KubeletServerOptions, 'port' | 'healthzPort'>;
};

/** Settings that protect the node and other pods from a pod. */
type PodProtection = Pick<KubeletOptions, 'seccompDefault' | 'netRawDefault' | 'podPidsLimit' | 'systemReserved'>;

/** Upstream's defaults, for container runtimes and clusters that rely on them. */
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
 * Defaults for a standalone node, which is not monitored by a cluster. 4096 is OpenShift's limit for processes and threads per pod: it is
 * enough for servers that use a thread per connection, and is an eighth of the usual 32768 PIDs. No ports are opened by default, because
 * the API is served on a Unix socket.
 */
export const STANDALONE_NODE_DEFAULTS: KubeletDefaults = {
  protection: {
    seccompDefault: existsSync('/proc/sys/kernel/seccomp/actions_avail'), // without seccomp filters, the runtime would refuse every container
    netRawDefault: false,
    podPidsLimit: 4096,
    systemReserved: { ...NOTHING_RESERVED, memoryBytes: 'auto', pids: 'auto' },
  },
  ports: { port: 0, healthzPort: 0 },
};

/** Converts a node's settings to kubelet options. */
export function kubeletOptionsOf(config: NodeConfig, { defaults, ...runtime }: KubeletPlace): KubeletOptions {
  const base = kubeletOptions({
    cgroupRoot: config.cgroup_parent,
    ...runtime,
    ...defaults.protection,
    manifestDir: config.manifests,
    podLogsDir: config.pod_logs,
    containerLogsDir: config.container_logs,
    nodeName: config.node_name,
    tracing: tracingOptions(config),
    server: kubeletServerOptions(defaults.ports),
    logger: createLogger({ name: 'kubelet', level: config.log_level }),
  });
  // users who can add pods can read all images anyway, so there is no need to verify pull credentials
  const images: KubeletOptions['images'] = { ...base.images, verification: { kind: 'NeverVerify' } };
  const fields = { rootDir: join(config.root, 'kubelet'), ...fieldsOfTable(config.kubelet) };
  return { ...base, ...optionsOfTable({ ...base, images }, fields) };
}
