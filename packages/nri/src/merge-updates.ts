import { create } from '@bufbuild/protobuf';
import { PodwrightError } from '@podwright/base';
import type { FieldOwners } from './field-owners.ts';
import { type ContainerUpdate, ContainerUpdateSchema } from './gen/nri/v1alpha1/adjustment_pb.js';
import type { LinuxResources } from './gen/nri/v1alpha1/container_pb.js';
import { copyResources, mergeResources } from './merge-resources.ts';

/** Merges the updates of existing containers that plugins request in response to one event. */
export class UpdateMerge {
  readonly #owners: FieldOwners;
  readonly #creating: string | undefined;
  readonly #updates = new Map<string, ContainerUpdate>();

  /** `creating`: ID of the container that is being created. Plugins may adjust it, but must not update it. */
  constructor(owners: FieldOwners, { creating }: { creating?: string } = {}) {
    this.#owners = owners;
    this.#creating = creating;
  }

  /** Adds the resources that a client requests for a container. Updates of plugins may change them. */
  request(containerId: string, resources: LinuxResources): void {
    this.#updates.set(containerId, create(ContainerUpdateSchema, { containerId, linux: { resources } }));
  }

  /**
   * Merges the updates of a plugin. Throws `failed_precondition` if another plugin has set one of the fields; an update with
   * `ignoreFailure` is then left out instead.
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

  /** Returns the merged updates, in the order of the first request for each container. */
  list(): ContainerUpdate[] {
    return [...this.#updates.values()];
  }
}
