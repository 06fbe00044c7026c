import {
  type Controller,
  deploymentController,
  disruptionController,
  endpointMirroringController,
  endpointSliceController,
  endpointsController,
  replicaSetController,
  replicationController,
} from '@podwright/controllers';

/** Controllers for stateless workloads, services and disruption budgets. */
export const CONTROLLERS: Record<string, Controller> = {
  deployment: deploymentController,
  'replica set': replicaSetController,
  replication: replicationController,
  'endpoint slice': endpointSliceController,
  endpoints: endpointsController,
  mirroring: endpointMirroringController,
  disruption: disruptionController,
};
