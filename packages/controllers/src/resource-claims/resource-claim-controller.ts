import { claimStatusesOf, type EventRecorder, eventSubject, type Pod } from '@podwright/kube-api';
import { apiMessage, isApiStatus, PODS, RESOURCE_CLAIMS } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { writeStatus } from '../framework/write-status.ts';
import { RESOURCE_CLAIM_TEMPLATES, type ResourceClaimTemplate, type StoredClaim } from '../objects/resource-claim.ts';
import { controllerOf, isOfKind } from '../pods/controller-reference.ts';
import { CLAIM_FINALIZER, decideClaim, unknownConsumers } from './decide-claim.ts';
import { claimFromTemplate, consumerOf, decidePodClaims, needsClaims, unreservedClaims } from './decide-pod-claims.ts';

/** Creates the ResourceClaims of pods from templates, and releases claims no longer used by pods. */
export const resourceClaimController: Controller = (parts) => new ResourceClaimController(parts).run();

class ResourceClaimController {
  readonly #parts: ControllerParts;
  readonly #pods: ObjectCache<Pod>;
  readonly #claims: ObjectCache<StoredClaim>;
  readonly #templates: ObjectCache<ResourceClaimTemplate>;
  readonly #events: EventRecorder;
  readonly #podQueue: WorkQueue;
  readonly #claimQueue: WorkQueue;

  constructor(parts: ControllerParts) {
    const { objects, events, logger, signal } = parts;
    this.#parts = parts;
    this.#pods = objects.of(PODS);
    this.#claims = objects.of(RESOURCE_CLAIMS);
    this.#templates = objects.of(RESOURCE_CLAIM_TEMPLATES);
    this.#events = events('resource_claim');
    const common = { logger, signal };
    const podFailure = 'failed to sync the ResourceClaims of a pod';
    this.#podQueue = new WorkQueue({ ...common, sync: (key) => this.#syncPod(key), failure: podFailure });
    const claimFailure = 'failed to sync a ResourceClaim';
    this.#claimQueue = new WorkQueue({ ...common, sync: (key) => this.#syncClaim(key), failure: claimFailure });
  }

  async run(): Promise<void> {
    if (!(await untilSynced(this.#pods, this.#claims, this.#templates))) return;
    this.#pods.onChange(({ object }) => this.#podChanged(object));
    this.#claims.onChange(({ object }) => {
      this.#claimQueue.add(placeText(object.metadata));
      const owner = controllerOf(object);
      const { namespace } = object.metadata;
      if (owner !== undefined && isOfKind(owner, PODS)) this.#podQueue.add(placeText({ namespace, name: owner.name }));
      for (const { name } of object.status?.reservedFor ?? []) this.#podQueue.add(placeText({ namespace, name }));
    });
    this.#templates.onChange(({ object: { metadata } }) => this.#templateChanged(metadata));
    await Promise.all([this.#podQueue.ended, this.#claimQueue.ended]);
  }

  #podChanged(pod: Pod): void {
    if ((pod.spec.resourceClaims ?? []).length === 0) return;
    const { namespace } = pod.metadata;
    this.#podQueue.add(placeText(pod.metadata));
    const { resourceClaimStatuses = [] } = claimStatusesOf(pod);
    const names = [...(pod.spec.resourceClaims ?? []), ...resourceClaimStatuses].map((one) => one.resourceClaimName);
    for (const name of names) if (name !== undefined) this.#claimQueue.add(placeText({ namespace, name }));
  }

  #templateChanged({ namespace, name }: ResourceClaimTemplate['metadata']): void {
    for (const pod of this.#pods.list(namespace)) {
      const claims = pod.spec.resourceClaims ?? [];
      if (claims.some((one) => one.resourceClaimTemplateName === name)) this.#podQueue.add(placeText(pod.metadata));
    }
  }

  async #syncPod(key: string): Promise<void> {
    const pod = this.#pods.get(placeOfText(key));
    if (pod === undefined || !needsClaims(pod)) return;
    const { namespace, uid } = pod.metadata;
    const claimOf = (name: string) => this.#claims.get({ namespace, name });
    const statuses: { name: string; resourceClaimName: string }[] = [];
    for (const step of decidePodClaims({ pod, claimOf, owned: this.#claims.controlledBy(namespace, uid) })) {
      if (step.type === 'none') continue;
      const claim = step.type === 'name' ? step.claim : await this.#create(pod, step);
      statuses.push({ name: step.podClaim, resourceClaimName: claim.metadata.name });
    }
    if (statuses.length > 0) await this.#writeStatuses(pod, statuses);
    for (const claim of unreservedClaims({ pod, claimOf })) {
      const reservedFor = [...(claim.status?.reservedFor ?? []), consumerOf(pod)];
      await writeStatus(this.#parts, RESOURCE_CLAIMS, { ...claim, status: { ...claim.status, reservedFor } });
    }
  }

  async #create(pod: Pod, { podClaim, template: name }: { podClaim: string; template: string }): Promise<StoredClaim> {
    const { client, signal } = this.#parts;
    try {
      const template = this.#templates.get({ namespace: pod.metadata.namespace, name });
      if (template === undefined) throw new Error(`resource claim template "${name}": ${notFound(name)}`);
      const body = claimFromTemplate(pod, podClaim, template);
      const created = await client.create<StoredClaim>(RESOURCE_CLAIMS, body, { signal });
      this.#claims.written(created);
      return created;
    } catch (error) {
      const message = `PodResourceClaim ${podClaim}: ${apiMessage(error)}`;
      if (!signal.aborted) this.#events.event(eventSubject(pod), 'Warning', 'FailedResourceClaimCreation', message);
      throw error;
    }
  }

  /** Patches only the claim names in the pod's status, because the kubelet and the scheduler write other fields of it. */
  async #writeStatuses({ metadata: { namespace, name, uid } }: Pod, statuses: object[]): Promise<void> {
    const { client, signal } = this.#parts;
    const body = { metadata: { uid }, status: { resourceClaimStatuses: statuses } };
    const patch = { type: 'strategic' as const, body, subresource: 'status' };
    this.#pods.written(await client.patch<Pod>(PODS, { namespace, name }, patch, { signal }));
  }

  async #syncClaim(key: string): Promise<void> {
    const { client, signal } = this.#parts;
    const claim = this.#claims.get(placeOfText(key));
    if (claim === undefined) return;
    const { namespace, name, uid } = claim.metadata;
    const podOf = (pod: string) => this.#pods.get({ namespace, name: pod });
    const absent = await this.#absent(claim, podOf);
    const { released, removesFinalizer, isUnused } = decideClaim({ claim, podOf, absent });
    let current = claim;
    if (released !== undefined) current = await writeStatus(this.#parts, RESOURCE_CLAIMS, released);
    if (removesFinalizer) await this.#removeFinalizer(current);
    if (isUnused) await client.delete(RESOURCE_CLAIMS, { namespace, name }, { preconditions: { uid } }, { signal });
  }

  /**
   * Looks up on the server those consumers of the claim that are missing from the pod cache. Returns the UIDs of the consumers that do not
   * exist.
   */
  async #absent(claim: StoredClaim, podOf: (name: string) => Pod | undefined): Promise<Set<string>> {
    const { client, signal } = this.#parts;
    const { namespace } = claim.metadata;
    const absent = new Set<string>();
    for (const { name, uid } of unknownConsumers({ claim, podOf })) {
      try {
        const pod = await client.get<Pod>(PODS, { namespace, name }, { signal });
        if (pod.metadata.uid !== uid) absent.add(uid);
      } catch (error) {
        if (!isApiStatus(error, 404)) throw error;
        absent.add(uid);
      }
    }
    return absent;
  }

  async #removeFinalizer(claim: StoredClaim): Promise<void> {
    const { client, signal } = this.#parts;
    const finalizers = (claim.metadata.finalizers ?? []).filter((one) => one !== CLAIM_FINALIZER);
    const { apiVersion = 'resource.k8s.io/v1', kind = 'ResourceClaim' } = claim;
    const body = { ...claim, apiVersion, kind, metadata: { ...claim.metadata, finalizers } };
    this.#claims.written(await client.update<StoredClaim>(RESOURCE_CLAIMS, body, { signal }));
  }
}

function notFound(name: string): string {
  return `resourceclaimtemplate.resource.k8s.io "${name}" not found`;
}
