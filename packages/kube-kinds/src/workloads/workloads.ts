import type { Conversions, Strategies } from '../strategy.ts';
import { CONTROLLER_REVISIONS } from './controller-revisions.ts';
import { CRON_JOBS } from './cron-jobs.ts';
import { DAEMON_SETS } from './daemon-sets.ts';
import { DEPLOYMENTS } from './deployments.ts';
import { HORIZONTAL_POD_AUTOSCALERS } from './horizontal-pod-autoscalers.ts';
import { HPA_V1 } from './hpa-conversion.ts';
import { JOBS } from './jobs.ts';
import { POD_DISRUPTION_BUDGETS } from './pod-disruption-budgets.ts';
import { POD_TEMPLATES } from './pod-templates.ts';
import { PODS } from './pods.ts';
import { PRIORITY_CLASSES } from './priority-classes.ts';
import { REPLICA_SETS } from './replica-sets.ts';
import { REPLICATION_CONTROLLERS } from './replication-controllers.ts';
import { STATEFUL_SETS } from './stateful-sets.ts';

/** Strategies of pods, and of the kinds for creating, scaling and scheduling them. */
export const WORKLOAD_STRATEGIES: Strategies = {
  pods: PODS,
  podtemplates: POD_TEMPLATES,
  replicationcontrollers: REPLICATION_CONTROLLERS,
  'controllerrevisions.apps': CONTROLLER_REVISIONS,
  'daemonsets.apps': DAEMON_SETS,
  'deployments.apps': DEPLOYMENTS,
  'replicasets.apps': REPLICA_SETS,
  'statefulsets.apps': STATEFUL_SETS,
  'horizontalpodautoscalers.autoscaling': HORIZONTAL_POD_AUTOSCALERS,
  'cronjobs.batch': CRON_JOBS,
  'jobs.batch': JOBS,
  'poddisruptionbudgets.policy': POD_DISRUPTION_BUDGETS,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASSES,
};

export const WORKLOAD_CONVERSIONS: Conversions = { 'horizontalpodautoscalers.autoscaling/v1': HPA_V1 };
