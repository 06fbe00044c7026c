import type { ObjectMeta } from './object-meta.ts';

export type ObjectReference = {
  apiVersion?: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  /** Such as `spec.containers{web}`. */
  fieldPath?: string;
};

export type EventType = 'Normal' | 'Warning';

/** v1 Event. Repetitions increase `count` and update `lastTimestamp`. */
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
