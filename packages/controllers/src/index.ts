export { cronJobController } from './cron-jobs/cron-job-controller.ts';
export { deploymentController } from './deployments/deployment-controller.ts';
export type { Controller, ControllerParts } from './framework/controller.ts';
export type { ObjectCache, ObjectChange } from './framework/object-cache.ts';
export type { SharedObjects } from './framework/shared-objects.ts';
export { finishedJobController } from './jobs/finished-job-controller.ts';
export { jobController } from './jobs/job-controller.ts';
export { replicaSetController, replicationController } from './replica-sets/replica-set-controller.ts';
export { type ControllersOptions, type RunningControllers, startControllers } from './start-controllers.ts';
