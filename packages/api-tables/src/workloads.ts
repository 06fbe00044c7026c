import type { KubeObject } from '@podwright/kube-api';
import { AGE, type Column, integer, type KindTables, kindTable, NAME, NONE, PLAIN_NAME, text, wide } from './column.ts';
import { containerColumns, type PodTemplate } from './pods.ts';
import { type LabelSelector, labelsText, requirementsOf, selectorText } from './selector-text.ts';

/** An object that manages pods created from a template. */
type Replicated = KubeObject & {
  spec: { replicas?: number; template?: PodTemplate };
  status?: { replicas?: number; readyReplicas?: number; updatedReplicas?: number; availableReplicas?: number };
};

type Workload = Replicated & { spec: { selector?: LabelSelector } };
type ReplicationController = Replicated & { spec: { selector?: Record<string, string> } };

const CONTAINERS = containerColumns<Replicated>(({ spec }) => spec.template).map(wide);
const SELECTOR: Column<Workload> = wide(
  text('Selector', 'Labels by which its pods are selected', ({ spec }) => selectorText(spec.selector)),
);

const READY: Column<Replicated> = text(
  'Ready',
  'Ready pods of all that should be',
  ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
);

const REPLICAS: Column<Replicated>[] = [
  NAME,
  integer('Desired', 'Pods that should be', ({ spec }) => spec.replicas ?? 0),
  integer('Current', 'Pods that are', ({ status }) => status?.replicas ?? 0),
  integer('Ready', 'Ready pods', ({ status }) => status?.readyReplicas ?? 0),
  AGE,
  ...CONTAINERS,
];

const DEPLOYMENT: Column<Workload>[] = [
  NAME,
  READY,
  text('Up-to-date', 'Pods of the current template', ({ status }) => status?.updatedReplicas ?? 0),
  text('Available', 'Pods that have been ready for long enough', ({ status }) => status?.availableReplicas ?? 0),
  AGE,
  ...CONTAINERS,
  wide(text('Selector', 'Labels by which its pods are selected', ({ spec }) => requirementsOf(spec.selector))),
];

const CONTROLLER_SELECTOR: Column<ReplicationController> = wide(
  text('Selector', 'Labels by which its pods are selected', ({ spec }) => labelsText(spec.selector)),
);

type DaemonSet = Workload & {
  status?: {
    desiredNumberScheduled?: number;
    currentNumberScheduled?: number;
    numberReady?: number;
    updatedNumberScheduled?: number;
    numberAvailable?: number;
  };
};

const DAEMON_SET: Column<DaemonSet>[] = [
  NAME,
  integer('Desired', 'Nodes that should run its pod', ({ status }) => status?.desiredNumberScheduled ?? 0),
  integer('Current', 'Nodes of these that run its pod', ({ status }) => status?.currentNumberScheduled ?? 0),
  integer('Ready', 'Nodes with a ready pod', ({ status }) => status?.numberReady ?? 0),
  integer(
    'Up-to-date',
    'Nodes with a pod of the current template',
    ({ status }) => status?.updatedNumberScheduled ?? 0,
  ),
  integer('Available', 'Nodes whose pod has been ready for long enough', ({ status }) => status?.numberAvailable ?? 0),
  text('Node Selector', 'Labels by which its nodes are selected', ({ spec }) =>
    labelsText(spec.template?.spec?.nodeSelector),
  ),
  AGE,
  ...CONTAINERS,
  SELECTOR,
];

type ControllerRevision = KubeObject & { revision?: number };

const CONTROLLER_REVISION: Column<ControllerRevision>[] = [
  NAME,
  text('Controller', 'Controller of the object', controllerOf),
  text('Revision', 'Number of the revision', ({ revision }) => revision ?? 0),
  AGE,
];

/** Returns the object's controller, formatted as `daemonset.apps/name`. */
function controllerOf({ metadata }: KubeObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return NONE;
  const { apiVersion, kind, name } = owner;
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  return `${kind}${group}`.toLowerCase().concat(`/${name}`);
}

const SCALE: Column<Replicated>[] = [
  PLAIN_NAME,
  integer('Desired', 'Pods that should be', ({ spec }) => spec.replicas ?? 0),
  integer('Available', 'Pods that are', ({ status }) => status?.replicas ?? 0),
  AGE,
];

export const WORKLOADS: KindTables = {
  ReplicationController: kindTable<ReplicationController>([...REPLICAS, CONTROLLER_SELECTOR]),
  'ReplicaSet.apps': kindTable<Workload>([...REPLICAS, SELECTOR]),
  'Deployment.apps': kindTable(DEPLOYMENT),
  'StatefulSet.apps': kindTable<Workload>([NAME, READY, AGE, ...CONTAINERS]),
  'DaemonSet.apps': kindTable(DAEMON_SET),
  'ControllerRevision.apps': kindTable(CONTROLLER_REVISION),
  'Scale.autoscaling': kindTable(SCALE),
};
