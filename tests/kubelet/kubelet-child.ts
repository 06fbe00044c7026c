/** A kubelet in a process that can be killed. Its options come as JSON. */
import { createLogger } from '@podwright/base';
import { startKubelet } from '@podwright/kubelet';

const kubelet = await startKubelet({
  ...JSON.parse(process.argv[2]!),
  logger: createLogger({ level: 'error' }),
});
await kubelet.sourcesReady;
process.on('disconnect', () => process.exit());
process.send?.('ready');
