import type { EventType, Pod } from '../objects/types.ts';

/** Records events. */
export type EventRecorder = {
  event(about: EventSubject, type: EventType, reason: string, message: string): void;
};

/**
 * The object that an event is about. `fieldPath`: its part, such as `spec.containers{main}`; `annotations`: of the event itself,
 * for programs.
 */
export type EventSubject = {
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  fieldPath?: string;
  annotations?: Record<string, string>;
};

/** A recorded event; `atMs` is Unix time in milliseconds. */
export type RecordedEvent = { about: EventSubject; type: EventType; reason: string; message: string; atMs: number };

/** The pod, or one of its containers, as the subject of an event. */
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

/** A container that is no longer in the pod counts as an ordinary one. */
function pathOf({ spec }: Pod, name: string): string {
  const lists = ['initContainers', 'ephemeralContainers'] as const;
  const list = lists.find((one) => spec[one]?.some((container) => container.name === name)) ?? 'containers';
  return `spec.${list}{${name}}`;
}

/** The node as the subject of an event. Its UID is its name, as upstream. */
export function nodeSubject(name: string): EventSubject {
  return { kind: 'Node', namespace: '', name, uid: name };
}
