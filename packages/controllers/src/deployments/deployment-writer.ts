/** Executes the actions of a Deployment. */
import type { EventRecorder, EventType } from '@podwright/kube-api';
import { ApiStatusError, apiMessage, isApiStatus } from '@podwright/kube-client';
import type { ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { writeStatus } from '../framework/write-status.ts';
import { DEPLOYMENTS, type Deployment } from '../objects/deployment.ts';
import { REPLICA_SETS, type ReplicaSet } from '../objects/replica-set.ts';
import { isControlledBy } from '../pods/controller-reference.ts';
import { isNamespaceTerminating, subjectOf } from '../pods/pod-writer.ts';
import { createdStatus, failedStatus, isReported } from './creation-status.ts';
import type { DeploymentAction } from './decide-deployment.ts';
import { newReplicaSet } from './new-replica-set.ts';
import { sizeOf } from './replica-counts.ts';
import { withSizes } from './replica-set-annotations.ts';
import { isSameTemplate } from './template-identity.ts';

type Parts = Pick<ControllerParts, 'client' | 'objects' | 'signal' | 'now'> & { recorder: EventRecorder };
type Write = Exclude<DeploymentAction, { type: 'wait' }>;
type Creation = Extract<DeploymentAction, { type: 'create' }>;
type Resizing = Extract<DeploymentAction, { type: 'scale' }>;

export class DeploymentWriter {
  readonly #parts: Parts;
  readonly #replicaSets: ObjectCache<ReplicaSet>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#replicaSets = parts.objects.of(REPLICA_SETS);
  }

  /** Executes an action of a decision. `read` is the Deployment on which the decision was based. */
  async write(read: Deployment, action: Write): Promise<void> {
    if (action.type === 'create') await this.#create(read, action);
    else if (action.type === 'update') await this.#update(action.replicaSet);
    else if (action.type === 'scale') await this.#scale(read, action);
    else if (action.type === 'delete') await this.#delete(action.replicaSet);
    else if (action.type === 'report') await this.#report(read, action.deployment);
    else this.#event(read, 'Warning', 'SelectingAll', SELECTS_ALL);
  }

  async #create(read: Deployment, { deployment, size, revision, oldSets }: Creation): Promise<void> {
    const { client, signal, now } = this.#parts;
    const wanted = newReplicaSet(deployment, size, revision);
    const { name } = wanted.metadata;
    let created: ReplicaSet;
    try {
      created = await client.create<ReplicaSet>(REPLICA_SETS, wanted, { signal });
    } catch (error) {
      if (isApiStatus(error, 'AlreadyExists')) return await this.#collide(read, deployment, { name, error });
      if (isNamespaceTerminating(error)) return; // nothing can be created there any longer
      const message = `Failed to create new replica set "${name}": ${apiMessage(error)}`;
      this.#event(read, 'Warning', 'ReplicaSetCreateError', message);
      await this.#report(read, failedStatus(deployment, message, now()));
      throw error;
    }
    this.#replicaSets.written(created);
    if (size > 0) this.#scaled(read, { name, from: 0, to: size });
    await this.#report(read, createdStatus({ deployment, newSet: created, oldSets, revision }, now()));
  }

  /**
   * Handles a name collision of a new ReplicaSet. If the existing ReplicaSet is the desired one, uses it; otherwise, increments the
   * collision count, so that the next attempt uses a different name.
   */
  async #collide(
    read: Deployment,
    deployment: Deployment,
    { name, error }: { name: string; error: unknown },
  ): Promise<void> {
    const { client, signal } = this.#parts;
    const { namespace } = deployment.metadata;
    const existing = await client.get<ReplicaSet>(REPLICA_SETS, { namespace, name }, { signal });
    const isOwn = isControlledBy(existing, DEPLOYMENTS, deployment);
    if (isOwn && isSameTemplate(existing.spec.template, deployment.spec.template))
      return this.#replicaSets.written(existing);
    const { status = {} } = deployment;
    const collisionCount = (status.collisionCount ?? 0) + 1;
    await this.#report(read, { ...deployment, status: { ...status, collisionCount } });
    throw error;
  }

  /**
   * Updates a ReplicaSet. If the response is lost, rereads the ReplicaSet: based on the old size, the next decision would create or delete
   * too many pods.
   */
  async #update(replicaSet: ReplicaSet): Promise<void> {
    const { client, signal } = this.#parts;
    const body = { ...replicaSet, apiVersion: 'apps/v1', kind: 'ReplicaSet' };
    try {
      this.#replicaSets.written(await client.update<ReplicaSet>(REPLICA_SETS, body, { signal }));
    } catch (error) {
      if (mayBeWritten(error) && !signal.aborted)
        this.#replicaSets.written(await client.get<ReplicaSet>(REPLICA_SETS, replicaSet.metadata, { signal }));
      throw error;
    }
  }

  /** Sets the size of a ReplicaSet, unless another client has changed it: that change triggers a new decision. */
  async #scale(deployment: Deployment, { replicaSet, from, to }: Resizing): Promise<void> {
    const current = this.#replicaSets.get(replicaSet.metadata);
    if (current?.metadata.uid !== replicaSet.metadata.uid || sizeOf(current) !== from) return;
    const { metadata, spec } = current;
    const annotations = withSizes(deployment, metadata.annotations);
    await this.#update({ ...current, metadata: { ...metadata, annotations }, spec: { ...spec, replicas: to } });
    if (from !== to) this.#scaled(deployment, { name: metadata.name, from, to });
  }

  /** Deletes a ReplicaSet, unless another client has changed it. */
  async #delete({ metadata }: ReplicaSet): Promise<void> {
    const { client, signal } = this.#parts;
    const { namespace, name, uid, resourceVersion } = metadata;
    try {
      await client.delete(REPLICA_SETS, { namespace, name }, { preconditions: { uid, resourceVersion } }, { signal });
    } catch (error) {
      if (isApiStatus(error, 404)) return;
      throw error;
    }
    this.#replicaSets.deleting({ namespace, name }, uid);
  }

  /** Writes the Deployment's status and revision if they differ from those that the decision was based on. */
  async #report(read: Deployment, deployment: Deployment): Promise<void> {
    if (!isReported(read, deployment)) await writeStatus(this.#parts, DEPLOYMENTS, deployment);
  }

  #scaled(deployment: Deployment, { name, from, to }: { name: string; from: number; to: number }): void {
    const direction = from < to ? 'up' : 'down';
    const message = `Scaled ${direction} replica set ${name} from ${from} to ${to}`;
    this.#event(deployment, 'Normal', 'ScalingReplicaSet', message);
  }

  // biome-ignore lint/complexity/useMaxParams: the signature of upstream's EventRecorder
  #event(deployment: Deployment, type: EventType, reason: string, message: string): void {
    this.#parts.recorder.event(subjectOf(DEPLOYMENTS, deployment), type, reason, message);
  }
}

const SELECTS_ALL = 'This deployment is selecting all pods. A non-empty selector is required.';

/** Whether a failed write might have taken effect: there was no response, or a server error. */
function mayBeWritten(error: unknown): boolean {
  return !(error instanceof ApiStatusError) || error.status.code >= 500;
}
