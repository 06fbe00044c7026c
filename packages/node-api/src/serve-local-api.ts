import type { Logger } from '@podwright/base';
import type { Kubelet } from '@podwright/kubelet';
import type { HttpListener, ServeStream } from '@podwright/kubelet-server';
import type { CountBuffer } from '@podwright/streaming';
import { AppliedObjects } from './applied-objects.ts';
import type { KubernetesApi } from './kubernetes-api.ts';
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
  /** The node's own Kubernetes API, if any. It then stores the objects, instead of files in the manifest directory. */
  kubernetesApi?: KubernetesApi;
  /** The kubelet's own API, which handles all paths outside the local API. */
  kubeletApi?: HttpListener;
  serveStream?: ServeStream;
  countBuffer?: CountBuffer;
};

/** Serves a kubelet's local API on its socket until the returned server is closed. */
export async function serveLocalApi(options: LocalApiOptions): Promise<LocalServer> {
  const { socketPath, kubelet, info, onStop, logger, kubernetesApi, ...served } = options;
  const applied = new AppliedObjects(info.manifestDir, kubelet);
  await applied.removeUnfinished();
  const api = kubernetesApi && (await apiOf(kubernetesApi));
  const backend = new LocalNode({ kubelet, applied, api, info, stop: onStop, logger });
  const { kubeletApi, serveStream, countBuffer } = served;
  const server = new LocalServer({ socketPath, backend, logger, kubernetesApi, kubeletApi, serveStream, countBuffer });
  await server.listen();
  return server;
}

/** Loads the code for objects in the Kubernetes API lazily, because only a node that has this API needs it. */
async function apiOf(client: KubernetesApi): Promise<LocalNodeParts['api']> {
  const { ApiObjects } = await import('./api-objects.ts');
  return { objects: new ApiObjects(client), client };
}
