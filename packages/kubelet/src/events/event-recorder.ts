import type { EventType, Pod } from '../api/types.ts';

/** Where events go. `container` names the container of the pod that it is about. */
export type EventRecorder = {
  event(about: EventSubject, type: EventType, reason: string, message: string): void;
};

export type EventSubject = { kind: string; namespace: string; name: string; uid: string; container?: string };

/** What an event is about: the pod, or one of its containers. */
export function eventSubject(pod: Pod, container?: string): EventSubject {
  const { name, namespace, uid } = pod.metadata;
  return { kind: 'Pod', name, namespace, uid, ...(container === undefined ? {} : { container }) };
}

/** What an event of the node itself is about; its UID is its name, as no other is known everywhere. */
export function nodeSubject(name: string): EventSubject {
  return { kind: 'Node', namespace: '', name, uid: name };
}
