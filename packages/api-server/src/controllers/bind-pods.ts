/** Binds pods to the only node that can run them, as long as the server has no scheduler. */
import type { StoredObject } from '@podwright/api-machinery';
import { errorMessage } from '@podwright/base';
import { type ApiObject, listAt, textAt, valueAt } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { ignoreOvertaken } from './ignore-overtaken.ts';
import { isReady } from './node-readiness.ts';

export type BinderParts = ControllerParts & {
  /** Assigns a pod to a node. Throws `ApiError` if the pod has been assigned, changed or deleted. */
  bind: (pod: { namespace: string; name: string }, node: string) => Promise<unknown>;
};

const SCHEDULER = 'default-scheduler';

/** Binds each pod once a node is ready. Neither resources nor affinities are considered: the node refuses pods that it cannot run. */
export async function bindPods(parts: BinderParts): Promise<void> {
  const { store } = parts;
  const waiting = new Set<string>();
  const bindWaiting = async () => {
    const node = waiting.size > 0 && usableNode(store.list('nodes').objects);
    if (!node) return;
    for (const key of [...waiting]) {
      waiting.delete(key);
      await bindOne(parts, key, node).catch((error: unknown) => {
        waiting.add(key); // tried again after the next change of a pod or node
        parts.logger.warn({ pod: key, error: errorMessage(error) }, 'bind a pod failed, trying again');
      });
    }
  };
  const noted = (pod: StoredObject) => {
    if (needsNode(pod.decode())) waiting.add(pod.key);
    else waiting.delete(pod.key);
  };
  const pods = {
    listed: (objects: readonly StoredObject[]) => {
      waiting.clear();
      objects.forEach(noted);
      return bindWaiting();
    },
    changed: async ({ type, object }: { type: string; object: StoredObject }) => {
      if (type === 'DELETED') return void waiting.delete(object.key);
      noted(object);
      if (waiting.has(object.key)) await bindWaiting();
    },
  };
  await Promise.all([
    followResource('pods', pods, parts),
    followResource('nodes', { listed: bindWaiting, changed: bindWaiting }, parts),
  ]);
}

async function bindOne({ store, bind }: BinderParts, key: string, node: string): Promise<void> {
  const [namespace = '', name = ''] = key.split('/');
  const pod = store.get({ resource: 'pods', namespace, name })?.decode();
  if (pod === undefined || !needsNode(pod)) return;
  await bind({ namespace, name }, node).catch(ignoreOvertaken); // the change that overtook it is followed
}

function needsNode(pod: ApiObject): boolean {
  const scheduler = textAt(pod, 'spec', 'schedulerName');
  return (
    textAt(pod, 'spec', 'nodeName') === '' &&
    pod.metadata.deletionTimestamp === undefined &&
    (scheduler === '' || scheduler === SCHEDULER) &&
    listAt(pod, 'spec', 'schedulingGates').length === 0
  );
}

/** The first node that is ready, not cordoned and not short of a resource: in a cluster, taints would keep pods from such nodes. */
function usableNode(nodes: readonly StoredObject[]): string | undefined {
  const isUsable = (node: ApiObject) =>
    isReady(node) && !isUnderPressure(node) && valueAt(node, 'spec', 'unschedulable') !== true;
  return nodes.map((node) => node.decode()).find(isUsable)?.metadata.name;
}

const isUnderPressure = (node: ApiObject): boolean =>
  listAt(node, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type').endsWith('Pressure') && textAt(condition, 'status') === 'True',
  );
