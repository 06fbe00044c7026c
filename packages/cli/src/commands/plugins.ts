import { existsSync } from 'node:fs';
import { errorCode, PodwrightError, silentLogger, wrapError } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { inspectPlugins, type PluginState } from '@podwright/runtime';
import * as z from 'zod';
import { runtimeOptions } from '../daemon/runtime-options.ts';
import { RUNTIME_CONNECT_TIMEOUT_MS } from '../limits.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { terminalWidth } from '../output/terminal.ts';
import { printError } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import type { NodePaths } from '../settings/node-paths.ts';

/** The part of the CRI's verbose Status response that lists the plugins. */
const StatusConfig = z.looseObject({
  plugins: z
    .array(
      z.object({
        type: z.string(),
        id: z.string(),
        state: z.enum(['ok', 'skip', 'error']),
        requires: z.array(z.string()),
        note: z.string(),
      }),
    )
    .optional(),
});

export type PluginsOptions = { output: OutputFormat };

/** `podwright runtime plugins`. Returns exit code 1 if a plugin has failed. */
export async function plugins({ config, settings }: CommandContext, options: PluginsOptions): Promise<number> {
  const all = await settings();
  if (all.container_runtime === 'docker') {
    const message = `show plugins: this node's containers run on a Docker Engine, but only the built-in runtime has plugins; 'podwright doctor' checks the Engine`;
    throw new PodwrightError('failed_precondition', message);
  }
  const running = await runningPlugins(config);
  if (running === undefined)
    printError(`no runtime answers on ${config.criSocket}; these are the states in which its plugins would start now`);
  const states = running ?? (await inspectPlugins(runtimeOptions(all)));
  await printAs(options.output, states, () => pluginTable(states));
  return states.some(({ state }) => state === 'error') ? 1 : 0;
}

/** Returns the plugins of the running container runtime, or `undefined` if it is not running. */
async function runningPlugins({ criSocket }: NodePaths): Promise<PluginState[] | undefined> {
  if (!existsSync(criSocket)) return undefined;
  try {
    const cri = await connectCri({
      runtimeEndpoint: criSocket,
      logger: silentLogger,
      connectTimeoutMs: RUNTIME_CONNECT_TIMEOUT_MS,
    });
    try {
      const { info } = await cri.runtime.status({ verbose: true });
      return decodePluginStates(info.config ?? '{}');
    } finally {
      cri.close();
    }
  } catch (error) {
    if (errorCode(error) === 'unavailable') return undefined;
    throw error;
  }
}

/** Decodes the plugins from the `config` entry of a Status response. Returns `undefined` if the container runtime does not report any. */
function decodePluginStates(config: string): PluginState[] | undefined {
  try {
    return StatusConfig.parse(JSON.parse(config)).plugins;
  } catch (error) {
    throw wrapError("read the plugins in the runtime's Status", error, 'internal');
  }
}

function pluginTable(states: PluginState[]): string {
  const rows = states.map(({ type, id, state, requires, note }) => [type, id, state, requires.join(', ') || '-', note]);
  return renderTable(['TYPE', 'ID', 'STATE', 'REQUIRES', 'NOTE'], rows, terminalWidth());
}
