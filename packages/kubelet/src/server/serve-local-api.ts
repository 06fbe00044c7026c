import type { Logger } from '@podwright/base';
import type { Kubelet } from '../kubelet.ts';
import { AppliedObjects } from './applied-objects.ts';
import type { NodeInfo } from './local-api.ts';
import { LocalNode } from './local-node.ts';
import { LocalServer } from './local-server.ts';

export type LocalApiOptions = {
  socketPath: string;
  kubelet: Kubelet;
  info: Pick<NodeInfo, 'name' | 'version' | 'manifestDir' | 'podLogsDir'>;
  /** Called when a client asked the daemon to end. */
  onStop: (options: { removeHostState: boolean }) => void;
  logger: Logger;
};

/** Serves the local API of a kubelet on its socket until the result is closed. */
export async function serveLocalApi(options: LocalApiOptions): Promise<LocalServer> {
  const { socketPath, kubelet, info, onStop, logger } = options;
  const applied = new AppliedObjects(info.manifestDir, kubelet);
  await applied.removeUnfinished();
  const backend = new LocalNode({ kubelet, applied, info, stop: onStop, logger });
  const server = new LocalServer({ socketPath, backend, logger });
  await server.listen();
  return server;
}
