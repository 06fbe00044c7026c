import type { EventType, Pod } from '../objects/types.ts';

/** Records Kubernetes events. */
export type EventRecorder = {
  event(about: EventSubject, type: EventType, reason: string, message: string): void;
};

/**
 * The object that an event is about. `apiVersion` defaults to `v1`. `fieldPath` refers to a part of the object, such as
 * `spec.containers{main}`. `annotations` are machine-readable and are set on the event itself.
 */
export type EventSubject = {
  apiVersion?: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  resourceVersion?: string;
  fieldPath?: string;
  annotations?: Record<string, string>;
};

/** A recorded event; `atMs` is Unix time in milliseconds. */
export type RecordedEvent = { about: EventSubject; type: EventType; reason: string; message: string; atMs: number };

/** Returns the pod, or one of its containers, as the subject of an event. */
export function eventSubject(pod: Pod, container?: string): EventSubject {
  const { name, namespace, uid } = pod.metadata;
  return {
    kind: 'Pod',
    name,
    namespace,
    uid,
    ...(container === undefined ? {} : { fieldPath: pathOf(pod, container) }),
  };
}

/** Returns the `fieldPath` of a container. A container that has been removed from the pod is assumed to have been a regular one. */
function pathOf({ spec }: Pod, name: string): string {
  const lists = ['initContainers', 'ephemeralContainers'] as const;
  const list = lists.find((one) => spec[one]?.some((container) => container.name === name)) ?? 'containers';
  return `spec.${list}{${name}}`;
}

/** Returns the node as the subject of an event. Its UID is its name, as in upstream. */
export function nodeSubject(name: string): EventSubject {
  return { kind: 'Node', namespace: '', name, uid: name };
}
