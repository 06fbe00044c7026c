/** A kubelet in a process that can be killed. Its options come as JSON, those that are left out are the defaults. */
import { createLogger } from '@podwright/base';
import { kubeletOptions, startKubelet } from '@podwright/kubelet';

const kubelet = await startKubelet(
  kubeletOptions({ ...JSON.parse(process.argv[2]!), logger: createLogger({ level: 'error' }) }),
);
await kubelet.sourcesReady;
process.on('disconnect', () => process.exit());
process.send?.('ready');
