import type { Node, Pod } from '@podwright/kube-api';
import { NODES, PODS } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { AwakeClock } from './awake-clock.ts';
import { NodeMonitor } from './node-monitor.ts';

/** Interval between checks of all nodes, in milliseconds (node-monitor-period). */
const PERIOD_MS = 5000;

/** Sets the conditions of nodes without heartbeats to Unknown, and maintains the taints derived from node conditions. */
export const nodeLifecycleController: Controller = async (parts) => {
  const { objects } = parts;
  const clock = new AwakeClock(() => performance.now());
  const monitor = new NodeMonitor(parts, () => clock.now());
  if (!(await untilSynced(...monitor.caches))) return;
  const passes = queueOf(parts, 'failed to check the nodes', async (key) => {
    await monitor.pass();
    passes.addAfter(key, PERIOD_MS);
  });
  const taints = queueOf(parts, 'failed to set the taints of a node', (key) => monitor.taint(key));
  const pods = queueOf(parts, 'failed to mark a pod as not ready', async (key) => {
    const pod = objects.of<Pod>(PODS).get(placeOfText(key));
    if (pod !== undefined) await monitor.markAssigned(pod);
  });
  objects.of<Node>(NODES).onChange(({ object }) => taints.add(object.metadata.name ?? ''));
  objects.of<Pod>(PODS).onChange(({ type, object, before }) => {
    const { nodeName } = object.spec;
    if (type !== 'DELETED' && nodeName !== undefined && nodeName !== before?.spec.nodeName)
      pods.add(placeText(object.metadata));
  });
  passes.add('nodes');
  await Promise.all([passes.ended, taints.ended, pods.ended]);
};

function queueOf(
  { logger, signal }: Pick<ControllerParts, 'logger' | 'signal'>,
  failure: string,
  sync: (key: string) => Promise<void>,
): WorkQueue {
  return new WorkQueue({ sync, failure, maxRetryMs: PERIOD_MS, logger, signal });
}
