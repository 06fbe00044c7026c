/** Creates and deletes the pods of a controller, with upstream's events (pkg/controller/controller_utils.go, RealPodControl). */
import type { EventRecorder, EventSubject, KubeObject, Pod, Resource } from '@podwright/kube-api';
import { apiMessage, isApiStatus, PODS } from '@podwright/kube-client';
import { settledCalls } from '../framework/calls.ts';
import type { ControllerParts } from '../framework/controller.ts';
import type { Owner } from './controller-reference.ts';
import type { NewPod } from './pod-template.ts';

export type PodWriterParts = Pick<ControllerParts, 'client' | 'objects' | 'signal'> & {
  events: EventRecorder;
  /** The resource of the pods' controller. */
  ownedBy: Resource;
};

export class PodWriter {
  readonly #parts: PodWriterParts;

  constructor(parts: PodWriterParts) {
    this.#parts = parts;
  }

  /** Creates a pod. A failure is recorded as an event on the owner, unless the namespace is being deleted. */
  async create(owner: Owner, pod: NewPod): Promise<Pod> {
    const { client, objects, events, ownedBy, signal } = this.#parts;
    const { namespace } = owner.metadata;
    const subject = subjectOf(ownedBy, owner);
    try {
      const created = await client.create<Pod>(PODS, inNamespace(pod, namespace), { signal });
      objects.of<Pod>(PODS).written(created);
      events.event(subject, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
      return created;
    } catch (error) {
      if (!isNamespaceTerminating(error))
        events.event(subject, 'Warning', 'FailedCreate', `Error creating: ${apiMessage(error)}`);
      throw error;
    }
  }

  /** Deletes a pod, unless a different pod has taken its name. No-op if the pod no longer exists. */
  async delete(owner: Owner, { metadata }: Pod): Promise<void> {
    const { client, objects, events, ownedBy, signal } = this.#parts;
    const { namespace, name, uid } = metadata;
    const subject = subjectOf(ownedBy, owner);
    try {
      await client.delete(PODS, { namespace, name }, { preconditions: { uid } }, { signal });
    } catch (error) {
      if (isApiStatus(error, 404) || isApiStatus(error, 409)) return;
      events.event(subject, 'Warning', 'FailedDelete', `Error deleting: ${apiMessage(error)}`);
      throw error;
    }
    objects.of<Pod>(PODS).deleting({ namespace, name }, uid);
    events.event(subject, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
  }
}

/**
 * Makes `count` calls in batches of 1, 2, 4, …, and stops after the first batch with a failure, so that an exhausted quota costs few
 * requests (slowStartBatch). Returns the number of successful calls and the first error.
 */
export async function inGrowingBatches(
  count: number,
  call: (index: number) => Promise<unknown>,
): Promise<{ succeeded: number; error?: unknown }> {
  let succeeded = 0;
  for (let size = 1; succeeded < count; size *= 2) {
    const from = succeeded;
    const batch = Array.from({ length: Math.min(size, count - from) }, (_, index) => from + index);
    const results = await settledCalls(batch, call);
    succeeded += results.filter(({ status }) => status === 'fulfilled').length;
    const failed = results.find(({ status }) => status === 'rejected');
    if (failed !== undefined) return { succeeded, error: (failed as PromiseRejectedResult).reason };
  }
  return { succeeded };
}

/** Returns the `involvedObject` for events about a stored object. */
export function subjectOf({ group, version, kind }: Resource, { metadata }: KubeObject): EventSubject {
  const { namespace = '', name = '', uid = '', resourceVersion } = metadata;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return { apiVersion, kind, namespace, name, uid, resourceVersion };
}

function inNamespace(pod: NewPod, namespace: string): KubeObject {
  return { ...pod, metadata: { ...pod.metadata, namespace } };
}

/** Whether the error is the server's refusal to create objects in a namespace that is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return isApiStatus(error, 403) && (error.status.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
}
