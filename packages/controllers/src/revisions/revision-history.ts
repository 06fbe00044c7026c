/** The ControllerRevisions of a StatefulSet or DaemonSet: finds, creates, renumbers and deletes them. */
import type { LabelSelector, Resource } from '@podwright/kube-api';
import { isApiStatus } from '@podwright/kube-client';
import type { ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { CONTROLLER_REVISIONS, type ControllerRevision } from '../objects/controller-revision.ts';
import { claimObjects } from '../pods/claim-objects.ts';
import { controllerReference, type Owner } from '../pods/controller-reference.ts';
import type { PodTemplate } from '../pods/pod-template.ts';
import { hasTemplate, inOrder, revisionHash, revisionName, templatePatch } from './revision-data.ts';

export type RevisionHistoryParts = Pick<ControllerParts, 'client' | 'objects' | 'signal'> & {
  /** The resource of the StatefulSets or DaemonSets that own the revisions. */
  ownedBy: Resource;
  /** The label of a revision that contains its hash. */
  hashLabel: string;
};

/** A StatefulSet or DaemonSet. */
export type RevisionOwner = Owner & {
  spec: { selector: LabelSelector; template: PodTemplate };
  status?: { collisionCount?: number };
};

export type CurrentRevision = {
  /** The revision that matches the owner's template. */
  revision: ControllerRevision;
  /** All revisions of the owner in order, the current one last. */
  all: ControllerRevision[];
  /** The owner's collision count: how many names of new revisions were already taken by revisions with different data. */
  collisionCount: number;
};

export class RevisionHistory {
  readonly #parts: RevisionHistoryParts;
  readonly #cache: ObjectCache<ControllerRevision>;

  constructor(parts: RevisionHistoryParts) {
    this.#parts = parts;
    this.#cache = parts.objects.of(CONTROLLER_REVISIONS);
  }

  /**
   * Adopts and releases revisions, and returns them along with the one for the owner's template: the newest one, an older one that now gets
   * the highest number (a rollback), or a new one.
   */
  async current(owner: RevisionOwner): Promise<CurrentRevision> {
    const known = inOrder(await this.#claim(owner));
    const { collisionCount = 0 } = owner.status ?? {};
    const patch = templatePatch(owner.spec.template);
    const equal = known.findLast((revision) => hasTemplate(revision, patch));
    const newest = known.at(-1);
    if (equal !== undefined && equal === newest) return { revision: equal, all: known, collisionCount };
    const number = (newest?.revision ?? 0) + 1;
    const { revision, collisionCount: count } =
      equal === undefined
        ? await this.#create(owner, number)
        : { revision: await this.#renumber(equal, number), collisionCount };
    const others = known.filter(({ metadata }) => metadata.name !== revision.metadata.name);
    return { revision, all: [...others, revision], collisionCount: count };
  }

  async delete({ metadata: { namespace, name, uid } }: ControllerRevision): Promise<void> {
    const { client, signal } = this.#parts;
    const place = { namespace, name };
    await client.delete(CONTROLLER_REVISIONS, place, { preconditions: { uid } }, { signal }).catch((error: unknown) => {
      if (!isApiStatus(error, 404) && !isApiStatus(error, 409)) throw error;
    });
    this.#cache.deleting(place, uid);
  }

  async #claim(owner: RevisionOwner): Promise<ControllerRevision[]> {
    const { client, objects, signal, ownedBy } = this.#parts;
    const { namespace, uid } = owner.metadata;
    const revisions = this.#cache
      .claimable(namespace, uid)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return claimObjects<ControllerRevision>(
      { client, objects, signal, ownedBy, resource: CONTROLLER_REVISIONS },
      { owner, selector: owner.spec.selector, objects: revisions },
    );
  }

  async #renumber(revision: ControllerRevision, number: number): Promise<ControllerRevision> {
    const { client, signal } = this.#parts;
    const changed = { ...revision, apiVersion: 'apps/v1', kind: 'ControllerRevision', revision: number };
    const updated = await client.update<ControllerRevision>(CONTROLLER_REVISIONS, changed, { signal });
    this.#cache.written(updated);
    return updated;
  }

  /** Creates a revision. If its name is taken by a different one, retries with a higher collision count, which is part of the hash. */
  async #create(owner: RevisionOwner, number: number): Promise<Pick<CurrentRevision, 'revision' | 'collisionCount'>> {
    const { client, signal, ownedBy, hashLabel } = this.#parts;
    const { namespace, name, annotations } = owner.metadata;
    const data = templatePatch(owner.spec.template);
    for (let collisionCount = owner.status?.collisionCount ?? 0; ; collisionCount++) {
      const hash = revisionHash(data, collisionCount);
      const metadata = {
        namespace,
        name: revisionName(name, hash),
        labels: { ...owner.spec.template.metadata?.labels, [hashLabel]: hash },
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [controllerReference(ownedBy, owner)],
      };
      const body = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, data, revision: number };
      try {
        const created = await client.create<ControllerRevision>(CONTROLLER_REVISIONS, body, { signal });
        this.#cache.written(created);
        return { revision: created, collisionCount };
      } catch (error) {
        if (!isApiStatus(error, 'AlreadyExists')) throw error;
        const place = { namespace, name: metadata.name };
        const known = await client.get<ControllerRevision>(CONTROLLER_REVISIONS, place, { signal });
        if (hasTemplate(known, data)) return { revision: known, collisionCount };
      }
    }
  }
}
