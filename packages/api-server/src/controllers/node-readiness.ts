import { type ApiObject, listAt, textAt, withValue } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { ignoreOvertaken } from './ignore-overtaken.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';

/** Whether the Ready condition of a Node is true. */
export const isReady = (node: ApiObject): boolean =>
  listAt(node, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === 'Ready' && textAt(condition, 'status') === 'True',
  );

/** Removes the not-ready taint, which all new nodes have, from nodes that have become ready. */
export async function untaintReadyNodes(parts: ControllerParts): Promise<void> {
  const { registryOf, context } = parts;
  const untaint = async (node: ApiObject) => {
    if (!isReady(node) || !hasTaint(node)) return;
    const place = { namespace: '', name: node.metadata.name ?? '' };
    await registryOf('nodes').change(place, withoutTaint, context()).catch(ignoreOvertaken);
  };
  await followResource(
    'nodes',
    {
      listed: async (nodes) => {
        for (const node of nodes) await untaint(node.decode());
      },
      changed: async ({ type, object }) => {
        if (type !== 'DELETED') await untaint(object.decode());
      },
    },
    parts,
  );
}

const hasTaint = (node: ApiObject): boolean => listAt(node, 'spec', 'taints').some(isNotReady);

const isNotReady = (taint: unknown): boolean => textAt(taint, 'key') === NOT_READY;

function withoutTaint(node: ApiObject): ApiObject {
  const others = listAt(node, 'spec', 'taints').filter((taint) => !isNotReady(taint));
  return withValue(node, ['spec', 'taints'], others.length === 0 ? undefined : others);
}
