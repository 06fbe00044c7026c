/** The controllers of a standalone node with a Kubernetes API. They run in the node's process. */
import type { ApiServer } from '@podwright/api-server';
import type { Logger } from '@podwright/base';
import {
  type Controller,
  cronJobController,
  deploymentController,
  finishedJobController,
  jobController,
  type RunningControllers,
  replicaSetController,
  replicationController,
  startControllers,
} from '@podwright/controllers';

const CONTROLLERS: Record<string, Controller> = {
  cronjob: cronJobController,
  deployment: deploymentController,
  job: jobController,
  replicaset: replicaSetController,
  replicationcontroller: replicationController,
  'ttl-after-finished': finishedJobController,
};

/** The user of upstream's kube-controller-manager. */
const USER = { username: 'system:kube-controller-manager', groups: ['system:masters', 'system:authenticated'] };

export function startNodeControllers(server: ApiServer, logger: Logger): RunningControllers {
  return startControllers({
    client: server.client(USER),
    eventClient: server.client(USER),
    controllers: CONTROLLERS,
    logger,
  });
}
