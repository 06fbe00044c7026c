/** A kubelet's settings: a KubeletConfiguration or Podwright's own TOML, distinguished by their contents and overridden by flags. */
import { resolve } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { discoverCgroups } from '@podwright/host';
import type { KubeletOptions } from '@podwright/kubelet';
import {
  checkedConfiguration,
  configuredOptions,
  type GivenFields,
  isKubeletConfiguration,
  type KubeletConfiguration,
  layFlags,
  readConfigurationFile,
  readDropIns,
} from '@podwright/kubelet-configuration';
import type { ClusterFiles } from '../settings/cluster-files.ts';
import type { ConfigFlags } from '../settings/config-flags.ts';
import { configOfText, givenFile, type NodeConfig } from '../settings/node-config.ts';
import { readText } from '../settings/read-text.ts';

/** Minimum verbosity for debug messages in upstream's klog. */
const DEBUG_VERBOSITY = 4;

export type KubeletSettings = {
  config: NodeConfig;
  /** The configuration from the file and flags, with upstream's defaults for all other fields. */
  configuration: KubeletConfiguration;
  /** Returns the kubelet options that were derived from `config`, overridden by the fields and flags that the user has set. */
  configure: (options: KubeletOptions) => KubeletOptions;
  /** The KubeletConfiguration fields that were set by a file or flag. */
  given: GivenFields;
};

/** Without a KubeletConfiguration, hosts with swap or cgroup v1 are accepted. */
export const WITHOUT_CONFIGURATION: GivenFields = new Map(
  ['failCgroupV1', 'failSwapOn'].map((name) => [name, { value: false, place: 'podwright' }] as const),
);

/** Reads the files and applies the flags. Rejects with an `invalid_argument` error that names the location, field and value. */
export async function kubeletSettings(line: {
  flags: ConfigFlags;
  given: GivenFields;
  dropIns?: string;
}): Promise<KubeletSettings> {
  const { flags, dropIns } = line;
  const file = givenFile(flags);
  const text = file === undefined ? '' : readText(file);
  const isUpstreams = file !== undefined && isKubeletConfiguration(text);
  if (dropIns !== undefined && flags.config !== undefined && !isUpstreams) {
    const what = '--config-dir holds parts of a KubeletConfiguration';
    throw new PodwrightError(
      'invalid_argument',
      `${what}, but ${file} is not one; name one with --config, or leave --config-dir out`,
    );
  }
  const hasConfiguration = isUpstreams || dropIns !== undefined;
  const base = isUpstreams ? readConfigurationFile(text, file) : hasConfiguration ? new Map() : WITHOUT_CONFIGURATION;
  const files = dropIns === undefined ? base : readDropIns(resolve(dropIns), base);
  const config = configOfText(hasConfiguration ? '' : text, { file, flags });
  const all = layFlags(files, new Map([...clusterFields(tomlCluster(config)), ...ownSettings(flags), ...line.given]));
  const configuration = await checkedSettings(all);
  const isVerbose = configuration['logging.verbosity'] >= DEBUG_VERBOSITY && flags.logLevel === undefined;
  return {
    config: isVerbose ? { ...config, log_level: 'debug' } : config,
    configuration,
    given: all,
    configure: (options) => {
      const isWanted = (field: string) => hasConfiguration || all.has(field);
      const applied = { ...options, ...configuredOptions(options, configuration, isWanted) };
      return hasConfiguration ? { ...applied, warnOfMissingClusterDns: true } : applied;
    },
  };
}

/** Adds defaults to the configuration and validates it for this host. */
export async function checkedSettings(given: GivenFields): Promise<KubeletConfiguration> {
  return checkedConfiguration(given, { cgroupVersion: await hostCgroupVersion() });
}

const tomlCluster = ({ cluster: { kubeconfig, bootstrap_kubeconfig: bootstrapKubeconfig } }: NodeConfig) => ({
  kubeconfig,
  bootstrapKubeconfig,
});

/** Returns the kubeconfigs from `[cluster]` as if they were set by the equivalent flags. */
export function clusterFields(files: Partial<Pick<ClusterFiles, 'kubeconfig' | 'bootstrapKubeconfig'>>): GivenFields {
  const { kubeconfig, bootstrapKubeconfig } = files;
  return new Map(
    Object.entries({ kubeconfig, bootstrapKubeconfig }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, { value, place: '[cluster]' }]],
    ),
  );
}

/** Returns the fields set by flags that every command has, if an equivalent field exists. */
function ownSettings({ podLogs, cgroupParent, cgroupDriver }: ConfigFlags): GivenFields {
  const settings = [
    ['podLogsDir', podLogs === undefined ? undefined : resolve(podLogs), '--pod-logs'],
    ['cgroupRoot', cgroupParent, '--cgroup-parent'],
    ['cgroupDriver', cgroupDriver === 'auto' ? undefined : cgroupDriver, '--cgroup-driver'],
  ] as const;
  return new Map(settings.flatMap(([name, value, place]) => (value === undefined ? [] : [[name, { value, place }]])));
}

async function hostCgroupVersion(): Promise<'v1' | 'v2' | 'none'> {
  const hierarchy = await discoverCgroups().catch(() => undefined); // the kubelet reports the error at its start
  return hierarchy === undefined ? 'none' : hierarchy.mode === 'v2' ? 'v2' : 'v1';
}
