/** Types of the API objects used by the page. Fields might be missing from an object even if its kind requires them. */
import type { KubeObject, Pod, Resource } from '@podwright/kube-api';

export type { KubeObject, Pod, Resource };

/** The kind, namespace ('' if cluster-scoped) and name of an object. */
export type ObjectName = { kind: string; namespace: string; name: string };

export type Condition = {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
};

export type NodeObject = KubeObject & {
  spec?: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[] };
  status?: {
    capacity?: Record<string, string>;
    allocatable?: Record<string, string>;
    conditions?: Condition[];
    images?: { names?: string[] | null; sizeBytes?: number }[];
    nodeInfo?: Record<string, string>;
    addresses?: { type: string; address: string }[];
  };
};

export type EventObject = KubeObject & {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { count?: number; lastObservedTime?: string };
  involvedObject?: { kind?: string; namespace?: string; name?: string; uid?: string; fieldPath?: string };
  source?: { component?: string };
  reportingComponent?: string;
};

export type ServiceObject = KubeObject & {
  spec?: {
    type?: string;
    clusterIP?: string;
    externalName?: string;
    selector?: Record<string, string>;
    ports?: { name?: string; port: number; protocol?: string; targetPort?: number | string; nodePort?: number }[];
  };
};

export type EndpointSlice = KubeObject & {
  ports?: { name?: string; port?: number; protocol?: string }[];
  endpoints?: {
    addresses?: string[];
    conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
    targetRef?: { kind?: string; name?: string };
  }[];
};

/** Returns when an event last occurred, in Unix milliseconds, or 0 if it has no time. */
export function eventTimeMs(event: EventObject): number {
  const { series, lastTimestamp, eventTime, firstTimestamp, metadata } = event;
  const text = series?.lastObservedTime || lastTimestamp || eventTime || firstTimestamp || metadata.creationTimestamp;
  return text ? Date.parse(text) || 0 : 0;
}

/** Returns the number of times an event occurred. */
export const eventCount = ({ series, count }: EventObject): number => series?.count ?? count ?? 1;

/** Returns the container that an event refers to with a field path like `spec.containers{NAME}`, or undefined if there is none. */
export const eventContainer = ({ involvedObject }: EventObject): string | undefined =>
  /\{(.+)\}$/.exec(involvedObject?.fieldPath ?? '')?.[1];
