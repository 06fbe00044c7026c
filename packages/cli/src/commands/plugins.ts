import { existsSync } from 'node:fs';
import { errorCode, silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { inspectPlugins, type PluginState } from '@podwright/runtime';
import { runtimeOptions } from '../daemon/runtime-options.ts';
import { RUNTIME_CONNECT_TIMEOUT_MS } from '../limits.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { printError } from '../output/terminal-text.ts';
import type { CommandContext, NodeConfig } from '../settings/node-config.ts';

export type PluginsOptions = { output: OutputFormat };

/** `podwright runtime plugins`: exit code 1 if one has failed. */
export async function plugins({ config }: CommandContext, options: PluginsOptions): Promise<number> {
  const running = await askRuntime(config);
  if (running === undefined)
    printError(`no runtime answers on ${config.criSocket}; this is how its plugins would start now`);
  const states = running ?? (await inspectPlugins(runtimeOptions(config)));
  printAs(options.output, states, () => pluginTable(states));
  return states.some(({ state }) => state === 'error') ? 1 : 0;
}

/** What the running runtime tells; `undefined` if there is none. */
async function askRuntime({ criSocket }: NodeConfig): Promise<PluginState[] | undefined> {
  if (!existsSync(criSocket)) return undefined;
  try {
    const cri = await connectCri({
      runtimeEndpoint: criSocket,
      logger: silentLogger,
      connectTimeoutMs: RUNTIME_CONNECT_TIMEOUT_MS,
    });
    try {
      const { info } = await cri.runtime.status({ verbose: true });
      return (JSON.parse(info.config ?? '{}') as { plugins?: PluginState[] }).plugins;
    } finally {
      cri.close();
    }
  } catch (error) {
    if (errorCode(error) === 'unavailable') return undefined;
    throw error;
  }
}

function pluginTable(states: PluginState[]): string {
  const rows = states.map(({ type, id, state, requires, note }) => [type, id, state, requires.join(', ') || '-', note]);
  return renderTable(['TYPE', 'ID', 'STATE', 'REQUIRES', 'NOTE'], rows, process.stdout.columns);
}
