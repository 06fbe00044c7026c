/** What a kubelet is started with: upstream's KubeletConfiguration or our TOML, told apart by content, and flags over them. */
import { resolve } from 'node:path';
import { discoverCgroups, PodwrightError } from '@podwright/base';
import type { KubeletOptions } from '@podwright/kubelet';
import {
  checkedConfiguration,
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
import { configuredOptions } from './configured-options.ts';

/** As much as upstream's klog has for messages that are for debugging. */
const DEBUG_VERBOSITY = 4;

export type KubeletSettings = {
  config: NodeConfig;
  /** The fields and flags with upstream's defaults for the rest. */
  configuration: KubeletConfiguration;
  /** Lays fields and flags over the options that the settings make. */
  configure: (options: KubeletOptions) => KubeletOptions;
  /** Fields that were given, by a file or a flag. */
  given: GivenFields;
};

/** Where nobody gave a KubeletConfiguration, a host with swap or cgroup v1 is taken as it is. */
export const WITHOUT_CONFIGURATION: GivenFields = new Map(
  ['failCgroupV1', 'failSwapOn'].map((name) => [name, { value: false, place: 'podwright' }] as const),
);

/** The settings of files under flags. Errors (`invalid_argument`) name the place, the field and the value. */
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
    throw new PodwrightError('invalid_argument', `${what}, and ${file} is none; name one by --config, or leave it out`);
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
      const laid = configuredOptions(options, configuration, (field) => hasConfiguration || all.has(field));
      return hasConfiguration ? { ...laid, warnOfMissingClusterDns: true } : laid;
    },
  };
}

/** The whole configuration, checked for this host. */
export async function checkedSettings(given: GivenFields): Promise<KubeletConfiguration> {
  return checkedConfiguration(given, { cgroupVersion: await hostCgroupVersion() });
}

const tomlCluster = ({ cluster: { kubeconfig, bootstrap_kubeconfig: bootstrapKubeconfig } }: NodeConfig) => ({
  kubeconfig,
  bootstrapKubeconfig,
});

/** The files of `[cluster]` as the flags of the same names. */
export function clusterFields(files: Partial<Pick<ClusterFiles, 'kubeconfig' | 'bootstrapKubeconfig'>>): GivenFields {
  const { kubeconfig, bootstrapKubeconfig } = files;
  return new Map(
    Object.entries({ kubeconfig, bootstrapKubeconfig }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, { value, place: '[cluster]' }]],
    ),
  );
}

/** Flags of every command that say what a field says, too. */
function ownSettings({ podLogs, cgroupParent, cgroupDriver }: ConfigFlags): GivenFields {
  const settings = [
    ['podLogsDir', podLogs === undefined ? undefined : resolve(podLogs), '--pod-logs'],
    ['cgroupRoot', cgroupParent, '--cgroup-parent'],
    ['cgroupDriver', cgroupDriver === 'auto' ? undefined : cgroupDriver, '--cgroup-driver'],
  ] as const;
  return new Map(settings.flatMap(([name, value, place]) => (value === undefined ? [] : [[name, { value, place }]])));
}

async function hostCgroupVersion(): Promise<'v1' | 'v2' | 'none'> {
  const hierarchy = await discoverCgroups().catch(() => undefined); // the kubelet says why when it starts
  return hierarchy === undefined ? 'none' : hierarchy.mode === 'v2' ? 'v2' : 'v1';
}
