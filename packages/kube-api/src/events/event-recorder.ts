import type { EventType, Pod } from '../objects/types.ts';

/** Where events go. */
export type EventRecorder = {
  event(about: EventSubject, type: EventType, reason: string, message: string): void;
};

/**
 * `fieldPath` is the part of the object that it is about, as `spec.containers{main}`; `annotations` are what the event itself carries
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

/** An event as it was recorded; `atMs` since 1970. */
export type RecordedEvent = { about: EventSubject; type: EventType; reason: string; message: string; atMs: number };

/** What an event is about: the pod, or one of its containers. */
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

/** A container that the pod has no more counts as an ordinary one. */
function pathOf({ spec }: Pod, name: string): string {
  const lists = ['initContainers', 'ephemeralContainers'] as const;
  const list = lists.find((one) => spec[one]?.some((container) => container.name === name)) ?? 'containers';
  return `spec.${list}{${name}}`;
}

/** What an event of the node itself is about; its UID is its name, as no other is known everywhere. */
export function nodeSubject(name: string): EventSubject {
  return { kind: 'Node', namespace: '', name, uid: name };
}
