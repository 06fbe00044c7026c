/** The controllers of a standalone node with a Kubernetes API. They run in the node's process. */
import type { ApiServer } from '@podwright/api-server';
import type { Logger } from '@podwright/base';
import {
  type Controller,
  cronJobController,
  daemonSetController,
  deploymentController,
  disruptionController,
  endpointMirroringController,
  endpointSliceController,
  endpointsController,
  finishedJobController,
  jobController,
  type RunningControllers,
  replicaSetController,
  replicationController,
  startControllers,
  statefulSetController,
} from '@podwright/controllers';

const CONTROLLERS: Record<string, Controller> = {
  cronjob: cronJobController,
  daemonset: daemonSetController,
  deployment: deploymentController,
  disruption: disruptionController,
  endpoint: endpointsController,
  endpointslice: endpointSliceController,
  endpointslicemirroring: endpointMirroringController,
  job: jobController,
  replicaset: replicaSetController,
  replicationcontroller: replicationController,
  statefulset: statefulSetController,
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
