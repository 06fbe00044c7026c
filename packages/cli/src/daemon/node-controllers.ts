/** The controllers and the scheduler of a standalone node with a Kubernetes API. They run in the node's process. */
import type { ApiServer } from '@podwright/api-server';
import type { Logger } from '@podwright/base';
import {
  directoryProvisioner,
  nodeLoadBalancer,
  type RunningControllers,
  startControllers,
} from '@podwright/controllers';
import { startScheduler } from '@podwright/scheduling';
import type { NodeConfig } from '../settings/node-config.ts';
import { CONTROLLERS } from './controllers.ts';
import { readListeners } from './listening-ports.ts';
import { volumeDirectories } from './volume-directories.ts';

const GROUPS = ['system:masters', 'system:authenticated'];

/** The user and the field manager of upstream's program. */
const userOf = (program: string) => ({ username: `system:${program}`, groups: GROUPS, userAgent: program });

/** Starts them with the users of upstream's programs. */
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
