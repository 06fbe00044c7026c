/** The settings of a node that belongs to a cluster: its own, overridden by a KubeletConfiguration. */
import { configuredOptions, layFields, readConfigurationFile } from '@podwright/kubelet-configuration';
import type { ClusterFiles } from '../settings/cluster-files.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { readText } from '../settings/read-text.ts';
import { checkedSettings, clusterFields, type KubeletSettings, WITHOUT_CONFIGURATION } from './kubelet-settings.ts';

/**
 * Fields for paths, endpoints and cgroups. They are ignored: the node sets them itself, because its container runtime runs in the same
 * process.
 */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...['containerRuntimeEndpoint', 'imageServiceEndpoint', 'staticPodPath', 'podLogsDir', 'rootDir'],
  ...['cgroupRoot', 'cgroupsPerQOS', 'cgroupDriver', 'kubeletCgroups', 'systemCgroups'],
]);

/** Reads and validates the settings. Rejects with an `invalid_argument` error that names the file, line, field and value. */
export async function clusterSettings(config: NodeConfig, files: ClusterFiles): Promise<KubeletSettings> {
  const { kubeletConfiguration: file } = files;
  const { given, configuration } = await checkClusterConfiguration(file === undefined ? '' : readText(file), files);
  return {
    config,
    configuration,
    given,
    configure: (options) => ({
      ...options,
      ...configuredOptions(options, configuration, (field) => given.has(field)),
      warnOfMissingClusterDns: true,
    }),
  };
}

/** Validates the text of a KubeletConfiguration ('' if there is none) for use by a node. Rejects like `clusterSettings`. */
export async function checkClusterConfiguration(
  text: string,
  files: ClusterFiles,
): Promise<Pick<KubeletSettings, 'given' | 'configuration'>> {
  const fields = text === '' ? new Map() : readConfigurationFile(text, files.kubeletConfiguration ?? '');
  const wanted = new Map([...fields].filter(([name]) => !OWN_FIELDS.has(name)));
  const given = layFields(layFields(WITHOUT_CONFIGURATION, wanted), clusterFields(files));
  return { given, configuration: await checkedSettings(given) };
}
