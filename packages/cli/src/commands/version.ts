import { errorCode, VERSION } from '@podwright/base';
import { NodeClient } from '../client/node-client.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type VersionOptions = { output: OutputFormat };

/** `podwright version`. It is no error if no node runs. */
export async function version({ config }: CommandContext, options: VersionOptions): Promise<void> {
  const node = await new NodeClient(config.apiSocket).node().catch((error: unknown) => {
    if (errorCode(error) === 'unavailable' || errorCode(error) === 'permission_denied') return undefined;
    throw error;
  });
  const value = { client: VERSION, node: node?.version, runtime: node?.runtime, nodejs: process.version };
  const rows = [
    ['podwright', VERSION],
    ['node', node?.version ?? 'not running'],
    [
      'runtime',
      node === undefined ? '-' : `${node.runtime.name} ${node.runtime.version}, CRI ${node.runtime.apiVersion}`,
    ],
    ['Node.js', process.version],
  ];
  await printAs(options.output, value, () => renderTable(['PART', 'VERSION'], rows));
}
