import type { Logger } from '@podwright/base';
import type { Kubelet } from '@podwright/kubelet';
import type { HttpListener, ServeStream } from '@podwright/kubelet-server';
import type { CountBuffer } from '@podwright/streaming';
import { AppliedObjects } from './applied-objects.ts';
import type { StopOptions } from './local-api.ts';
import { LocalNode, type LocalNodeParts } from './local-node.ts';
import { LocalServer } from './local-server.ts';

export type LocalApiOptions = {
  socketPath: string;
  kubelet: Kubelet;
  info: LocalNodeParts['info'];
  /** Called when a client asks the daemon to stop. */
  onStop: (options: StopOptions) => void;
  logger: Logger;
  /** The kubelet's own API, which handles all paths that do not belong to the local API. */
  kubeletApi?: HttpListener;
  serveStream?: ServeStream;
  countBuffer?: CountBuffer;
};

/** Serves a kubelet's local API on its socket until the returned server is closed. */
export async function serveLocalApi(options: LocalApiOptions): Promise<LocalServer> {
  const { socketPath, kubelet, info, onStop, logger, kubeletApi, serveStream, countBuffer } = options;
  const applied = new AppliedObjects(info.manifestDir, kubelet);
  await applied.removeUnfinished();
  const backend = new LocalNode({ kubelet, applied, info, stop: onStop, logger });
  const server = new LocalServer({ socketPath, backend, logger, kubeletApi, serveStream, countBuffer });
  await server.listen();
  return server;
}
