import { isRecord } from '@podwright/base';
/** Flags that every command accepts. They override the configuration file. */
export type ConfigFlags = {
  config?: string;
  root?: string;
  state?: string;
  podLogs?: string;
  cgroupParent?: string;
  cgroupDriver?: string;
  bridge?: string;
  subnet?: string;
  cniConfDir?: string;
  readySandboxes?: string;
  fastPaths?: string;
  api?: string;
  apiListen?: string;
  serviceCidr?: string;
  metricsAddress?: string;
  logLevel?: string;
} & ClusterFlags &
  DockershimFlags;

/** Flags of `podwright node` for a node that is part of a cluster. */
export type ClusterFlags = { kubeconfig?: string; bootstrapKubeconfig?: string; kubeletConfiguration?: string };

/** Flags of the daemons that include a dockershim, named as in the kubelet before 1.24. */
export type DockershimFlags = {
  dockerEndpoint?: string;
  listen?: string;
  podInfraContainerImage?: string;
  networkPlugin?: string;
  cniBinDir?: string;
  cniCacheDir?: string;
  hairpinMode?: string;
  nonMasqueradeCidr?: string;
  networkPluginMtu?: string;
  runtimeCgroups?: string;
  streamingAddress?: string;
  streamingPort?: string;
  experimentalDockershimRootDirectory?: string;
  imagePullProgressDeadline?: string;
};

/** The path of each flag's key in the configuration file. */
const KEYS: Record<Exclude<keyof ConfigFlags, 'config'>, string[]> = {
  root: ['root'],
  state: ['state'],
  podLogs: ['pod_logs'],
  cgroupParent: ['cgroup_parent'],
  cgroupDriver: ['runtime', 'cgroup_driver'],
  bridge: ['network', 'bridge'],
  subnet: ['network', 'subnet'],
  cniConfDir: ['network', 'cni_conf_dir'],
  readySandboxes: ['runtime', 'ready_sandboxes'],
  fastPaths: ['fast_paths'],
  api: ['api', 'enabled'],
  apiListen: ['api', 'listen'],
  serviceCidr: ['api', 'service_cidr'],
  metricsAddress: ['metrics_address'],
  logLevel: ['log_level'],
  kubeconfig: ['cluster', 'kubeconfig'],
  bootstrapKubeconfig: ['cluster', 'bootstrap_kubeconfig'],
  kubeletConfiguration: ['cluster', 'kubelet_configuration'],
  dockerEndpoint: ['dockershim', 'docker_endpoint'],
  listen: ['dockershim', 'listen'],
  podInfraContainerImage: ['dockershim', 'sandbox_image'],
  networkPlugin: ['dockershim', 'network_plugin'],
  cniBinDir: ['dockershim', 'cni_bin_dirs'],
  cniCacheDir: ['dockershim', 'cni_cache_dir'],
  hairpinMode: ['dockershim', 'hairpin_mode'],
  nonMasqueradeCidr: ['dockershim', 'non_masquerade_cidr'],
  networkPluginMtu: ['dockershim', 'mtu'],
  runtimeCgroups: ['dockershim', 'runtime_cgroups'],
  streamingAddress: ['dockershim', 'streaming_address'],
  streamingPort: ['dockershim', 'streaming_port'],
  experimentalDockershimRootDirectory: ['dockershim', 'root'],
  imagePullProgressDeadline: ['dockershim', 'image_pull_progress_deadline'],
};

/** Flags for integer, boolean and list keys. On the command line, list items are separated by commas. */
const NUMBERS: readonly string[] = ['readySandboxes', 'networkPluginMtu', 'streamingPort'];
const BOOLEANS: readonly string[] = ['fastPaths', 'api'];
const LISTS: readonly string[] = ['cniBinDir'];

type Table = Record<string, unknown>;
type KeyValue = string | number | boolean | string[];

/**
 * Applies the flags to a configuration file's content. A value that should be a table but is not is left in place, so that the schema
 * rejects it.
 */
export function applyFlags(content: Table, flags: ConfigFlags): Table {
  return Object.entries(KEYS).reduce((content, [flag, path]) => {
    const value = flags[flag as keyof ConfigFlags];
    return value === undefined ? content : withValue(content, path, keyValueOf(flag, value));
  }, content);
}

/**
 * Converts a flag's value to the type of its config key. An invalid number or boolean is left as a string, so that the schema rejects it.
 */
function keyValueOf(flag: string, value: string): KeyValue {
  if (LISTS.includes(flag)) return value.split(',');
  if (BOOLEANS.includes(flag) && ['true', 'false'].includes(value)) return value === 'true';
  return NUMBERS.includes(flag) && /^\d+$/.test(value) ? Number(value) : value;
}

/** Returns the flag, such as `--pod-logs`, that set the config key at `path`. */
export function flagOf(path: readonly PropertyKey[], flags: ConfigFlags): string | undefined {
  const found = Object.entries(KEYS).find(
    ([flag, key]) => flags[flag as keyof ConfigFlags] !== undefined && key.join('.') === path.join('.'),
  );
  return found === undefined ? undefined : flagName(found[0]);
}

/** Converts an option name to its command-line form: `podLogs` becomes `--pod-logs`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function withValue(table: Table, [key, ...rest]: string[], value: KeyValue): Table {
  if (rest.length === 0) return { ...table, [key!]: value };
  const inner = table[key!] ?? {};
  return isTable(inner) ? { ...table, [key!]: withValue(inner, rest, value) } : table;
}

const isTable = (value: unknown): value is Table => isRecord(value) && !(value instanceof Date);
