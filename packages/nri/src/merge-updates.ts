import { create } from '@bufbuild/protobuf';
import { PodwrightError } from '@podwright/base';
import type { FieldOwners } from './field-owners.ts';
import { type ContainerUpdate, ContainerUpdateSchema } from './gen/nri/v1alpha1/adjustment_pb.js';
import type { LinuxResources } from './gen/nri/v1alpha1/container_pb.js';
import { copyResources, mergeResources } from './merge-resources.ts';

/** Merges the updates to existing containers that plugins request in response to an event. */
export class UpdateMerge {
  readonly #owners: FieldOwners;
  readonly #creating: string | undefined;
  readonly #updates = new Map<string, ContainerUpdate>();

  /** `creating`: ID of the container being created, which plugins may adjust but must not update. */
  constructor(owners: FieldOwners, { creating }: { creating?: string } = {}) {
    this.#owners = owners;
    this.#creating = creating;
  }

  /** Adds the resources requested by a client for a container, which plugins' updates may change. */
  request(containerId: string, resources: LinuxResources): void {
    this.#updates.set(containerId, create(ContainerUpdateSchema, { containerId, linux: { resources } }));
  }

  /**
   * Merges a plugin's updates. If another plugin has already set one of the fields, throws `failed_precondition`, or skips the update if it
   * has `ignoreFailure`.
   */
  add(plugin: string, updates: readonly ContainerUpdate[]): void {
    for (const update of updates) {
      const { containerId, ignoreFailure } = update;
      if (containerId === this.#creating) {
        const problem = `plugin "${plugin}" updates container ${containerId} while it is being created`;
        throw new PodwrightError('failed_precondition', problem);
      }
      const merged = this.#updates.get(containerId);
      const resources = copyResources(merged?.linux?.resources);
      try {
        mergeResources({ owners: this.#owners, containerId, plugin }, [resources], update.linux?.resources);
      } catch (error) {
        if (ignoreFailure) continue;
        throw error;
      }
      const ignored = ignoreFailure && (merged?.ignoreFailure ?? true);
      const next = { containerId, linux: { resources }, ignoreFailure: ignored };
      this.#updates.set(containerId, create(ContainerUpdateSchema, next));
    }
  }

  /** Returns the merged updates, ordered by the first request for each container. */
  list(): ContainerUpdate[] {
    return [...this.#updates.values()];
  }
}
