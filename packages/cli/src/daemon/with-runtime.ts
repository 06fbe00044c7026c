import { silentLogger } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import type { CommandContext } from '../settings/node-config.ts';
import { ensureNode, stopNode } from './ensure-node.ts';

/**
 * Calls `work` with a CRI client for this node's container runtime. If no node is running, starts one and, unless it has pods, stops it
 * afterwards.
 */
export async function withRuntime<T>(context: CommandContext, work: (cri: CriClient) => Promise<T>): Promise<T> {
  const node = await ensureNode(context);
  const { runtime } = await node.client.node();
  const cri = await connectCri({ runtimeEndpoint: runtime.endpoint, logger: silentLogger });
  try {
    return await work(cri);
  } finally {
    cri.close();
    if (node.started && (await node.client.pods()).length === 0)
      await stopNode(node.client, { removeHostState: true, endPods: false });
  }
}
