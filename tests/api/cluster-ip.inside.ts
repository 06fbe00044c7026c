import { createInterface } from 'node:readline';
import { createLogger } from '@podwright/base';
import { claimAddresses } from '../../packages/cli/src/daemon/cluster-services.ts';
import type { ConfigFlags } from '../../packages/cli/src/settings/config-flags.ts';
import { configOfText, type NodeConfig } from '../../packages/cli/src/settings/node-config.ts';

// Run by cluster-ip.test.ts in the network namespace of a simulated host. Starts the API of a standalone node without the kubelet and the
// runtime or, with `claimOnly`, only adds the node's Service addresses to the host. Exits when its stdin is closed.
const { claimOnly, ...flags }: ConfigFlags & { claimOnly: boolean } = JSON.parse(process.argv[2]!);
const config = configOfText('', { file: undefined, flags });
const stop = claimOnly ? await claim(config) : await start(config);
console.log('started');
for await (const _ of createInterface({ input: process.stdin }));
await stop();
process.exit();

async function claim(config: NodeConfig): Promise<() => Promise<void>> {
  const addresses = await claimAddresses(config, createLogger({ name: 'claim' }));
  return async () => addresses?.release({ rulesStay: false });
}

async function start(config: NodeConfig): Promise<() => Promise<void>> {
  const { startStandaloneApi } = await import('../../packages/cli/src/daemon/standalone-api.ts');
  const api = await startStandaloneApi(config);
  return async () => {
    await api.close();
    await api.services.close({ removeHostState: true });
  };
}
