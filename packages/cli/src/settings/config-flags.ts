import { isRecord } from '@podwright/base';
/** Flags that every command takes; they win over the file. */
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
  metricsAddress?: string;
  logLevel?: string;
} & ClusterFlags &
  DockershimFlags;

/** Flags of `podwright node` as a node of a cluster. */
export type ClusterFlags = { kubeconfig?: string; bootstrapKubeconfig?: string; kubeletConfiguration?: string };

/** Flags of the daemons that serve the CRI on a Docker Engine, as the kubelet of old had them. */
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

/** The key of the file that each flag stands for. */
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

/** Flags whose key is a whole number, or a list, which the flag has with commas. */
const NUMBERS: readonly string[] = ['readySandboxes', 'networkPluginMtu', 'streamingPort'];
const LISTS: readonly string[] = ['cniBinDir'];

type Table = Record<string, unknown>;

/** The content of a file with the flags over it. What is no table where a flag needs one stays, for the schema to refuse. */
export function layFlags(content: Table, flags: ConfigFlags): Table {
  return Object.entries(KEYS).reduce((laid, [flag, path]) => {
    const value = flags[flag as keyof ConfigFlags];
    return value === undefined ? laid : withValue(laid, path, keyValueOf(flag, value));
  }, content);
}

/** What is no number where a key needs one stays, too. */
function keyValueOf(flag: string, value: string): string | number | string[] {
  if (LISTS.includes(flag)) return value.split(',');
  return NUMBERS.includes(flag) && /^\d+$/.test(value) ? Number(value) : value;
}

/** The flag, as it is typed, that set the key at `path`. */
export function flagOf(path: readonly PropertyKey[], flags: ConfigFlags): string | undefined {
  const found = Object.entries(KEYS).find(
    ([flag, key]) => flags[flag as keyof ConfigFlags] !== undefined && key.join('.') === path.join('.'),
  );
  return found === undefined ? undefined : flagName(found[0]);
}

/** `podLogs` as it is typed: `--pod-logs`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function withValue(table: Table, [key, ...rest]: string[], value: string | number | string[]): Table {
  if (rest.length === 0) return { ...table, [key!]: value };
  const inner = table[key!] ?? {};
  return isTable(inner) ? { ...table, [key!]: withValue(inner, rest, value) } : table;
}

const isTable = (value: unknown): value is Table => isRecord(value) && !(value instanceof Date);
