import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { errorMessage, PodwrightError } from '@podwright/base';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';

const path = z
  .string()
  .min(1)
  .transform((value) => resolve(value));

/** The configuration file, every key optional. Unknown keys are errors. */
const FileSchema = z.strictObject({
  root: path.default('/var/lib/podwright'),
  state: path.default('/run/podwright'),
  pod_logs: path.default('/var/log/pods'),
  manifests: path.optional(),
  node_name: z.string().min(1).optional(),
  cgroup_parent: z.string().startsWith('/').default('/podwright'),
  log_level: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  network: z
    .strictObject({
      bridge: z.string().min(1).max(15).default('podwright0'),
      subnet: z.string().min(1).default('10.83.0.0/16'),
      cni_conf_dir: path.default('/etc/cni/net.d'),
      cni_bin_dirs: z.array(path).min(1).default(['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni']),
    })
    .prefault({}),
  runtime: z
    .strictObject({
      oci_runtime: z.string().default(''),
      conmon: z.string().min(1).default('conmon'),
      snapshotter: z.enum(['auto', 'overlayfs', 'native']).default('auto'),
      registry_config_dir: path.default('/etc/podwright/certs.d'),
      streaming_address: z.string().default('127.0.0.1'),
      streaming_port: z.int().min(0).max(65535).default(0),
    })
    .prefault({}),
  kubelet: z
    .strictObject({
      cluster_dns: z.array(z.string()).default([]),
      cluster_domain: z.string().default('cluster.local'),
      max_pods: z.int().positive().default(110),
      serialize_image_pulls: z.boolean().default(false),
      max_parallel_image_pulls: z.int().positive().default(5),
      max_container_restart_period_seconds: z.int().min(1).max(300).default(300),
      container_log_max_size: z.string().default('10Mi'),
      container_log_max_files: z.int().min(2).default(5),
    })
    .prefault({}),
});

/** A node's settings, complete. All paths are absolute. */
export type NodeConfig = z.infer<typeof FileSchema> & {
  manifests: string;
  node_name: string;
  /** Sockets of this node: the local API and the CRI. */
  apiSocket: string;
  criSocket: string;
};

/** Flags that every command takes; they win over the file. */
export type ConfigFlags = {
  config?: string;
  root?: string;
  state?: string;
  podLogs?: string;
  cgroupParent?: string;
  bridge?: string;
  subnet?: string;
  cniConfDir?: string;
  logLevel?: string;
};

const DEFAULT_FILE = '/etc/podwright/config.toml';

/**
 * Reads the configuration file (`--config`, else the default place if it is there) and lays the flags over it.
 * Errors (`invalid_argument`) name the file, the line or the key, and the value.
 */
export function loadConfig(flags: ConfigFlags): NodeConfig {
  const file = flags.config ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined);
  const content = file === undefined ? {} : readToml(file);
  const parsed = FileSchema.safeParse(withFlags(content, flags));
  if (!parsed.success) {
    const words = parsed.error.issues.map((issue) => `${issue.path.join('.') || '(top)'}: ${issue.message}`);
    throw new PodwrightError('invalid_argument', `read ${file ?? 'flags'}: ${words.join('; ')}`);
  }
  const config = parsed.data;
  return {
    ...config,
    manifests: config.manifests ?? join(config.root, 'manifests'),
    node_name: config.node_name ?? hostname().toLowerCase(),
    apiSocket: join(config.state, 'node.sock'),
    criSocket: join(config.state, 'cri.sock'),
  };
}

function readToml(file: string): Record<string, unknown> {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const where = error instanceof TomlError ? `${file}:${error.line}:${error.column}` : file;
    throw new PodwrightError('invalid_argument', `read ${where}: ${errorMessage(error).split('\n')[0]}`, {
      cause: error,
    });
  }
}

function withFlags(content: Record<string, unknown>, flags: ConfigFlags): Record<string, unknown> {
  const network = { ...(content.network as object | undefined) };
  return {
    ...content,
    ...given({ root: flags.root, state: flags.state, pod_logs: flags.podLogs }),
    ...given({ cgroup_parent: flags.cgroupParent, log_level: flags.logLevel }),
    network: { ...network, ...given({ bridge: flags.bridge, subnet: flags.subnet, cni_conf_dir: flags.cniConfDir }) },
  };
}

function given(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
