import { silentLogger } from '@podwright/base';
import { CniConfiguration } from './network/cni-configuration.ts';
import type { DockershimOptions } from './options.ts';

/** Describes the pod network for users. Throws `failed_precondition`, listing every file that was tried, if there is none yet. */
export async function lookAtPodNetwork({
  plugin,
  confDir,
  binDirs,
}: Pick<DockershimOptions['network'], 'plugin' | 'confDir' | 'binDirs'>): Promise<string> {
  if (plugin === 'none') return "Docker's own bridge";
  const { name } = await new CniConfiguration(confDir, binDirs, silentLogger).require();
  return `by CNI plugins: ${name} in ${confDir}`;
}
