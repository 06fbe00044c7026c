import { Backoff, errorMessage, type Logger, pause } from '@podwright/base';
import { type EventRecorder, type Node, nodeSubject } from '@podwright/kube-api';
import { isApiStatus, type KubeClient, NODES } from '@podwright/kube-client';
import { takeOverNode } from './existing-node.ts';
import { initialNode, type NodeIdentity } from './initial-node.ts';
import { NODE_REGISTRATION_BACKOFF } from './limits.ts';
import { nodePatch } from './node-patch.ts';
import type { ObservedNode } from './observed-node.ts';

export type NodeRegistrationOptions = NodeIdentity & {
  client: KubeClient;
  observe: (signal: AbortSignal) => Promise<ObservedNode>;
  /** Whether no device plugin has ever registered on this host. The Node object's extended resources are then reset to zero. */
  resetExtendedResources: () => boolean;
  events: EventRecorder;
  logger: Logger;
};

/**
 * Creates the Node object or adopts an existing one, retrying until that succeeds. Returns `undefined` if the signal aborts. Unlike
 * upstream, makes the first attempt without a delay.
 */
export async function registerNode(options: NodeRegistrationOptions, signal: AbortSignal): Promise<Node | undefined> {
  const { name, logger, events } = options;
  const backoff = new Backoff(NODE_REGISTRATION_BACKOFF);
  for (let attempt = 0; !signal.aborted; attempt++) {
    if (attempt > 0) await pause(backoff.next(name), signal);
    if (signal.aborted) break;
    const initial = initialNode(options, await options.observe(signal));
    if (attempt === 0)
      for (const { type, reason, message } of initial.events) events.event(nodeSubject(name), type, reason, message);
    try {
      const { how, node } = await tryRegister(options, initial.node, signal);
      logger.info({ node: name, how }, 'the node is registered');
      return node;
    } catch (error) {
      if (!signal.aborted) logger.error({ node: name, error: errorMessage(error) }, 'the node could not be registered');
    }
  }
  return undefined;
}

async function tryRegister(
  { client, name, resetExtendedResources }: NodeRegistrationOptions,
  initial: Node,
  signal: AbortSignal,
): Promise<{ how: 'created' | 'taken over'; node: Node }> {
  try {
    return { how: 'created', node: await client.create<Node>(NODES, initial, { signal }) };
  } catch (error) {
    // 403: a kubelet that may not create Node objects can still adopt one that already exists
    if (!isApiStatus(error, 'AlreadyExists') && !isApiStatus(error, 403)) throw error;
  }
  const existing = await client.get<Node>(NODES, { name }, { signal });
  const taken = takeOverNode(existing, initial, { resetExtendedResources: resetExtendedResources() });
  if (taken === existing) return { how: 'taken over', node: existing };
  const patch = { type: 'strategic' as const, body: nodePatch(existing, taken), subresource: 'status' };
  return { how: 'taken over', node: await client.patch<Node>(NODES, { name }, patch, { signal }) };
}
