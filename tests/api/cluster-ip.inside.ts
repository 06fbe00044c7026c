import { createInterface } from 'node:readline';
import { startStandaloneApi } from '../../packages/cli/src/daemon/standalone-api.ts';
import type { ConfigFlags } from '../../packages/cli/src/settings/config-flags.ts';
import { configOfText } from '../../packages/cli/src/settings/node-config.ts';

// Run by cluster-ip.test.ts in the network namespace of a simulated host: the API of a standalone node without its kubelet and runtime. It
// stops when its input ends.
const flags: ConfigFlags = JSON.parse(process.argv[2]!);
const api = await startStandaloneApi(configOfText('', { file: undefined, flags }));
console.log('started');
for await (const _ of createInterface({ input: process.stdin }));
await api.close();
await api.services.close({ removeHostState: true });
process.exit();
