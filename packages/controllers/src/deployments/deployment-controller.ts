import { type EventRecorder, matchesLabelSelector, type Pod } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache, ObjectChange } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { DEPLOYMENTS, type Deployment } from '../objects/deployment.ts';
import { REPLICA_SETS, type ReplicaSet } from '../objects/replica-set.ts';
import { claimObjects } from '../pods/claim-objects.ts';
import { controllerOf } from '../pods/controller-reference.ts';
import { isEnded } from '../pods/pod-state.ts';
import { wakeOwners } from '../pods/wake-owners.ts';
import { decideDeployment } from './decide-deployment.ts';
import { DeploymentWriter } from './deployment-writer.ts';
import { isRolling } from './replica-counts.ts';

const COMPONENT = 'deployment-controller';

/** Rolls out Deployments with ReplicaSets. */
export const deploymentController: Controller = (parts) => new DeploymentController(parts).run();

class DeploymentController {
  readonly #parts: ControllerParts;
  readonly #deployments: ObjectCache<Deployment>;
  readonly #replicaSets: ObjectCache<ReplicaSet>;
  readonly #pods: ObjectCache<Pod>;
  readonly #writer: DeploymentWriter;
  readonly #queue: WorkQueue;

  constructor(parts: ControllerParts) {
    const { objects, events, logger, signal } = parts;
    this.#parts = parts;
    this.#deployments = objects.of(DEPLOYMENTS);
    this.#replicaSets = objects.of(REPLICA_SETS);
    this.#pods = objects.of(PODS);
    const recorder: EventRecorder = events(COMPONENT);
    this.#writer = new DeploymentWriter({ ...parts, recorder });
    const failure = 'failed to sync a Deployment';
    this.#queue = new WorkQueue({ sync: (key) => this.#sync(key), failure, logger, signal });
  }

  async run(): Promise<void> {
    if (!(await untilSynced(this.#deployments, this.#replicaSets, this.#pods))) return;
    wakeOwners({
      ownedBy: DEPLOYMENTS,
      owners: this.#deployments,
      owned: this.#replicaSets,
      selectorOf: ({ spec }) => spec.selector,
      wake: (key) => this.#queue.add(key),
    });
    this.#pods.onChange((change) => this.#podChanged(change));
    await this.#queue.ended;
  }

  /** The strategy Recreate waits for the end of old pods. */
  #podChanged({ type, object: pod }: ObjectChange<Pod>): void {
    if (type !== 'DELETED' && !isEnded(pod)) return;
    const { namespace } = pod.metadata;
    const replicaSet = controllerOf(pod);
    const owner = replicaSet && this.#replicaSets.get({ namespace, name: replicaSet.name });
    const name = owner === undefined ? undefined : controllerOf(owner)?.name;
    if (name === undefined) return;
    const deployment = this.#deployments.get({ namespace, name });
    if (deployment !== undefined && !isRolling(deployment)) this.#queue.add(placeText({ namespace, name }));
  }

  async #sync(key: string): Promise<void> {
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
      if (action.type === 'wait') this.#queue.addAfter(key, action.ms);
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

  #podsOf({ spec }: Deployment, uid: string): Pod[] {
    return this.#pods.controlledBy(uid).filter(({ metadata }) => matchesLabelSelector(spec.selector, metadata.labels));
  }
}
