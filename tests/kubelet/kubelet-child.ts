/**
 * A kubelet in a process that can be killed. Arguments: its options as JSON (default values for any omitted), and its cluster's kubeconfig,
 * if any.
 */
import { createLogger } from '@podwright/base';
import { createKubeClient, readKubeconfig } from '@podwright/kube-client';
import { kubeletOptions, startKubelet } from '@podwright/kubelet';

const [, , options = '{}', kubeconfig] = process.argv;

async function clusterOf(path: string) {
  const client = createKubeClient(await readKubeconfig(path));
  return { client, heartbeatClient: client, eventClient: client };
}

/** Integers too large for JSON numbers are encoded as strings with the suffix `n`. */
const withBigInts = (_: string, value: unknown) =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;

const cluster = kubeconfig === undefined ? undefined : await clusterOf(kubeconfig);
const kubelet = await startKubelet(
  kubeletOptions({ ...JSON.parse(options, withBigInts), logger: createLogger({ level: 'error' }), cluster }),
);
await kubelet.sourcesReady;
process.on('disconnect', () => process.exit());
process.send?.('ready');
