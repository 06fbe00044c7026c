import { errorMessage } from '@podwright/base';
import { eventSelector, type Pod } from '@podwright/kube-api';
import type { ApiObject, ApiPort } from '../api-port.ts';
import type { EndpointSlice, Service } from '../service.ts';
import { Lines } from '../text/aligned.ts';
import type { Workload } from '../workload.ts';
import { describeAnyObject } from './any-object.ts';
import { describeEvents, type ShownEvent } from './events.ts';
import { describeCronJob, describeJob } from './jobs.ts';
import { describeService } from './services.ts';
import {
  describeDaemonSet,
  describeDeployment,
  describeReplicaSet,
  describeStatefulSet,
  podSelector,
  type Surroundings,
} from './workloads.ts';

/** Related objects and events shown in the description of an object, or why they cannot be read. */
export type Related = Surroundings & {
  slices: readonly EndpointSlice[] | Error;
  events: readonly ShownEvent[] | Error;
};

/** Kinds whose descriptions show pod counts by phase. */
const COUNTED = new Set(['ReplicaSet', 'ReplicationController', 'StatefulSet', 'DaemonSet']);

/**
 * Reads an object's events and the related objects shown in its description. Returns an error in place of those that cannot be read, for
 * example because the user is not permitted to.
 */
export async function readRelated(api: ApiPort, object: ApiObject): Promise<Related> {
  const { kind = '', metadata } = object;
  const { namespace = '', name, uid } = metadata;
  const items = async <T>(path: string, query: Record<string, string>): Promise<T[] | Error> => {
    try {
      return ((await api.call({ method: 'GET', path, query })) as { items: T[] | null }).items ?? [];
    } catch (error) {
      return new Error(errorMessage(error));
    }
  };
  const within = `/namespaces/${encodeURIComponent(namespace)}`;
  const eventsPath = namespace === '' ? '/api/v1/events' : `/api/v1${within}/events`;
  const labelSelector = () => podSelector((object as Workload).spec.selector);
  const [events, pods, replicaSets, slices] = await Promise.all([
    items<ShownEvent>(eventsPath, { fieldSelector: eventSelector({ kind, name, uid }) }),
    COUNTED.has(kind) ? items<Pod>(`/api/v1${within}/pods`, { labelSelector: labelSelector() }) : [],
    kind === 'Deployment'
      ? items<Workload>(`/apis/apps/v1${within}/replicasets`, { labelSelector: labelSelector() })
      : [],
    kind === 'Service'
      ? items<EndpointSlice>(`/apis/discovery.k8s.io/v1${within}/endpointslices`, {
          labelSelector: `kubernetes.io/service-name=${name}`,
        })
      : [],
  ]);
  const isOwn = (pod: Pod) => pod.metadata.ownerReferences?.some((owner) => owner.uid === uid);
  const own = pods instanceof Error ? pods : pods.filter(isOwn);
  return { events, pods: own, replicaSets, slices };
}

/** Describes an object like `kubectl describe`: workloads and Services by their fields, other kinds generically. */
export function describeObject(object: ApiObject, related: Related, nowMs: number): string {
  const lines = new Lines();
  const group = object.apiVersion?.includes('/') ? object.apiVersion.split('/')[0]! : '';
  const describe = DESCRIBERS[`${group}/${object.kind}`] ?? describeAnyObject;
  describe(lines, object, related);
  describeEvents(lines, related.events, nowMs);
  return lines.text();
}

type Describer = (lines: Lines, object: ApiObject, related: Related) => void;

const ofWorkload =
  (describe: (lines: Lines, workload: Workload, related: Related) => void): Describer =>
  (lines, object, related) =>
    describe(lines, object as Workload, related);

const DESCRIBERS: Record<string, Describer> = {
  'apps/Deployment': ofWorkload(describeDeployment),
  'apps/ReplicaSet': ofWorkload(describeReplicaSet),
  '/ReplicationController': ofWorkload(describeReplicaSet),
  'apps/StatefulSet': ofWorkload(describeStatefulSet),
  'apps/DaemonSet': ofWorkload(describeDaemonSet),
  'batch/Job': ofWorkload(describeJob),
  'batch/CronJob': ofWorkload(describeCronJob),
  '/Service': (lines, object, { slices }) => describeService(lines, object as Service, slices),
};
