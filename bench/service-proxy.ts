/** Run by service-rules-host.ts: our proxy, in a process of its own, following the API server at the URL in its first argument. */
import { createLogger } from '@podwright/base';
import { createKubeClient } from '@podwright/kube-client';
import { startProxy } from '@podwright/proxy';

const client = createKubeClient({ server: process.argv[2]! });
const proxy = startProxy({ client, nodeName: 'here', logger: createLogger({ level: 'warn' }) });
await proxy.synced;
process.send!('synced');
process.on('disconnect', () => process.exit());
