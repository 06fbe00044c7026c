import { type KubeObject, matchesLabelSelector, type Pod, type Resource } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache, ObjectChange } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { DEPLOYMENTS, type Deployment } from '../objects/deployment.ts';
import { REPLICA_SETS, type ReplicaSet } from '../objects/replica-set.ts';
import { claimObjects } from '../pods/claim-objects.ts';
import { controllerOf, isControlledBy, type Owner } from '../pods/controller-reference.ts';
import { isEnded } from '../pods/pod-state.ts';
import { wakeOwners } from '../pods/wake-owners.ts';
import { decideDeployment } from './decide-deployment.ts';
import { DeploymentWriter } from './deployment-writer.ts';
import { isRolling } from './replica-counts.ts';

const COMPONENT = 'deployment-controller';

/** Rolls out Deployments by creating and scaling ReplicaSets. */
export const deploymentController: Controller = async (parts) => {
  const { objects, logger, signal } = parts;
  const owners = objects.of<Deployment>(DEPLOYMENTS);
  const owned = objects.of<ReplicaSet>(REPLICA_SETS);
  const pods = objects.of<Pod>(PODS);
  const failure = 'failed to sync a Deployment';
  const queue = new WorkQueue({ sync: (key) => deployments.sync(key), failure, logger, signal });
  const deployments = new DeploymentSync(parts, (key, delayMs) => queue.addAfter(key, delayMs));
  if (!(await untilSynced(owners, owned, pods))) return;
  const wake = (key: string) => queue.add(key);
  wakeOwners({ ownedBy: DEPLOYMENTS, owners, owned, selectorOf: ({ spec }) => spec.selector, wake });
  pods.onChange((change) => {
    const key = waitingFor(objects, change);
    if (key !== undefined) wake(key);
  });
  await queue.ended;
};

/**
 * Returns the key of the Deployment that is waiting for this pod to terminate before creating new ones, if there is one. Only Deployments
 * with the Recreate strategy wait.
 */
function waitingFor(objects: ControllerParts['objects'], { type, object: pod }: ObjectChange<Pod>): string | undefined {
  if (type !== 'DELETED' && !isEnded(pod)) return undefined;
  const { namespace } = pod.metadata;
  const controllerIn = <T extends Owner>(resource: Resource, object: KubeObject) => {
    const { name = '' } = controllerOf(object) ?? {};
    const owner = objects.of<T>(resource).get({ namespace, name });
    return owner !== undefined && isControlledBy(object, resource, owner) ? owner : undefined;
  };
  const replicaSet = controllerIn<ReplicaSet>(REPLICA_SETS, pod);
  const deployment = replicaSet && controllerIn<Deployment>(DEPLOYMENTS, replicaSet);
  return deployment === undefined || isRolling(deployment) ? undefined : placeText(deployment.metadata);
}

/** Syncs Deployments: decides and executes the next steps of one Deployment at a time. */
export class DeploymentSync {
  readonly #parts: ControllerParts;
  readonly #again: (key: string, delayMs: number) => void;
  readonly #deployments: ObjectCache<Deployment>;
  readonly #replicaSets: ObjectCache<ReplicaSet>;
  readonly #pods: ObjectCache<Pod>;
  readonly #writer: DeploymentWriter;

  /** `again` requests another sync of a Deployment after a delay in milliseconds. */
  constructor(parts: ControllerParts, again: (key: string, delayMs: number) => void) {
    const { objects, events } = parts;
    this.#parts = parts;
    this.#again = again;
    this.#deployments = objects.of(DEPLOYMENTS);
    this.#replicaSets = objects.of(REPLICA_SETS);
    this.#pods = objects.of(PODS);
    this.#writer = new DeploymentWriter({ ...parts, recorder: events(COMPONENT) });
  }

  /** Takes the next steps of a rollout, and reports the status. Rejects if a write fails. */
  async sync(key: string): Promise<void> {
    const place = placeOfText(key);
    const deployment = this.#deployments.get(place);
    if (deployment === undefined) return;
    const actions = decideDeployment({
      deployment,
      replicaSets: await this.#claim(deployment),
      podsOf: ({ metadata }) => this.#podsOf(deployment, metadata.uid),
      nowMs: this.#parts.now(),
    });
    for (const action of actions) {
      if (action.type === 'wait') this.#again(key, action.ms);
      else await this.#writer.write(deployment, action);
    }
  }

  async #claim(owner: Deployment): Promise<ReplicaSet[]> {
    const { client, objects, signal } = this.#parts;
    const { namespace, uid } = owner.metadata;
    return claimObjects<ReplicaSet>(
      { client, objects, signal, ownedBy: DEPLOYMENTS, resource: REPLICA_SETS },
      { owner, selector: owner.spec.selector, objects: this.#replicaSets.claimable(namespace, uid) },
    );
  }

  #podsOf({ metadata: { namespace }, spec }: Deployment, uid: string): Pod[] {
    const owned = this.#pods.controlledBy(namespace, uid);
    return owned.filter(({ metadata }) => matchesLabelSelector(spec.selector, metadata.labels));
  }
}
