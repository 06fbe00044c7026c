import { startDockershim } from '@podwright/dockershim';
import { loadSystem } from '@podwright/system';
import type { ConfigFlags } from '../settings/config-flags.ts';
import { loadConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { dockershimOptions } from './dockershim-options.ts';
import { openMetrics } from './metrics.ts';

/** `podwright dockershim`: serves the CRI on top of a Docker Engine until a signal stops it. Containers keep running afterwards. */
export async function runDockershim(flags: ConfigFlags): Promise<void> {
  const config = loadConfig(flags);
  process.chdir('/'); // all paths are absolute now, and a daemon must not keep a directory from being unmounted
  const { stopped, countBuffer } = beginDaemon(config, loadSystem());
  await using metrics = await openMetrics(config);
  const dockershim = await startDockershim({ ...dockershimOptions(config), metrics: metrics.registry, countBuffer });
  await stopped;
  await dockershim.close();
}
