/** The controllers and scheduler of a standalone node with a Kubernetes API. They run in the node's process. */
import type { ApiServer } from '@podwright/api-server';
import type { Logger } from '@podwright/base';
import {
  directoryClaims,
  directoryProvisioner,
  nodeLoadBalancer,
  type ProvisionedClaim,
  type RunningControllers,
  startControllers,
} from '@podwright/controllers';
import { PERSISTENT_VOLUMES } from '@podwright/kube-client';
import { startScheduler } from '@podwright/scheduling';
import type { NodeConfig } from '../settings/node-config.ts';
import { CONTROLLERS } from './controllers.ts';
import { readListeners } from './listening-ports.ts';
import { volumeDirectories } from './volume-directories.ts';

type Volume = Parameters<typeof directoryClaims>[0][number];

const GROUPS = ['system:masters', 'system:authenticated'];

/** Returns the user and field manager of an upstream component. */
const userOf = (program: string) => ({ username: `system:${program}`, groups: GROUPS, userAgent: program });

/** Returns a function that lists the claims whose files are stored in directories on the node. */
export function nodeClaims(root: string, server: ApiServer): () => Promise<ProvisionedClaim[]> {
  const client = server.client(userOf('kube-controller-manager'));
  const { directory } = volumeDirectories(root);
  return async () => directoryClaims((await client.list<Volume>(PERSISTENT_VOLUMES, {})).items, directory);
}

/** Starts the controllers and the scheduler, as the users of the upstream components. */
export function startNodeControllers(
  { root, node_name: nodeName }: Pick<NodeConfig, 'root' | 'node_name'>,
  server: ApiServer,
  logger: Logger,
): RunningControllers {
  const client = server.client(userOf('kube-controller-manager'));
  const provisioner = directoryProvisioner({ ...volumeDirectories(root), nodeName });
  const running = startControllers({
    client,
    controllers: {
      ...CONTROLLERS,
      'directory-provisioner': provisioner,
      'load-balancer': nodeLoadBalancer({ nodeName, readListeners }),
    },
    logger,
  });
  const stopping = new AbortController();
  const scheduler = startScheduler({
    client: server.client(userOf('kube-scheduler')),
    logger,
    signal: stopping.signal,
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([running.stop(), scheduler.ended]);
    },
  };
}
