/**
 * A kubelet in a process that can be killed. Arguments: its options as JSON (omitted ones have their defaults), and the kubeconfig of its
 * cluster, if any.
 */
import { createLogger } from '@podwright/base';
import { createKubeClient, readKubeconfig } from '@podwright/kube-client';
import { kubeletOptions, startKubelet } from '@podwright/kubelet';

const [, , options = '{}', kubeconfig] = process.argv;

async function clusterOf(path: string) {
  const client = createKubeClient(await readKubeconfig(path));
  return { client, heartbeatClient: client, eventClient: client };
}

/** Integers that are too large for JSON numbers are strings that end in `n`. */
const withBigInts = (_: string, value: unknown) =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;

const cluster = kubeconfig === undefined ? undefined : await clusterOf(kubeconfig);
const kubelet = await startKubelet(
  kubeletOptions({ ...JSON.parse(options, withBigInts), logger: createLogger({ level: 'error' }), cluster }),
);
await kubelet.sourcesReady;
process.on('disconnect', () => process.exit());
process.send?.('ready');
