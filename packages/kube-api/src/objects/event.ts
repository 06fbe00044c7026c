import type { ObjectMeta } from './object-meta.ts';

export type ObjectReference = {
  apiVersion?: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  /** The part of the object the event is about, such as `spec.containers{web}`. */
  fieldPath?: string;
};

export type EventType = 'Normal' | 'Warning';

/** v1 Event. Each repeat increments `count` and updates `lastTimestamp`. */
export type Event = {
  apiVersion: 'v1';
  kind: 'Event';
  metadata: ObjectMeta;
  involvedObject: ObjectReference;
  type: EventType;
  reason: string;
  message: string;
  source: { component: string; host?: string };
  firstTimestamp: string;
  lastTimestamp: string;
  count: number;
};

/**
 * An Event as returned by the API server. Clients of `events.k8s.io/v1` set `eventTime` and `series` instead of `lastTimestamp` and
 * `count`.
 */
export type ReceivedEvent = Omit<Event, 'lastTimestamp' | 'count'> & {
  lastTimestamp?: string | null;
  count?: number;
  eventTime?: string | null;
  series?: { count?: number; lastObservedTime?: string | null } | null;
};

/** Returns the event with `lastTimestamp` and `count`, computed from its newer fields if they are unset. */
export function completeEvent({ lastTimestamp, count, ...event }: ReceivedEvent): Event {
  const { series, eventTime, metadata } = event;
  const last = lastTimestamp || series?.lastObservedTime || eventTime || metadata.creationTimestamp || '';
  return { ...event, lastTimestamp: last, count: count || (series?.count ?? 1) };
}

/** Returns the field selector for events about an object. Matching by UID excludes events of earlier objects with the same name. */
export function eventSelector({ kind, name, uid }: { kind: string; name: string; uid?: string }): string {
  const fields = [`involvedObject.kind=${kind}`, `involvedObject.name=${name}`];
  if (uid) fields.push(`involvedObject.uid=${uid}`);
  return fields.join(',');
}
