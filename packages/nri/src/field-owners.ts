import { create } from '@bufbuild/protobuf';
import { PodwrightError } from '@podwright/base';
import { Field, type OwningPlugins, OwningPluginsSchema } from './gen/nri/v1alpha1/owners_pb.js';
import { isRemoval, markRemoval, removedKey } from './removal.ts';

/** Name of a field that plugins can set, as in NRI's enum `Field`. */
export type FieldName = Exclude<keyof typeof Field, 'None'>;

type Owners = { simple: Map<FieldName, string>; compound: Map<FieldName, Map<string, string>> };

/**
 * Tracks which plugin has set which field of which container, to detect conflicts between plugins. Each entry of a map or keyed list counts
 * as a field. When a plugin removes a field, its name is recorded with the removal marker: only that plugin may then set the field again.
 */
export class FieldOwners {
  readonly #containers = new Map<string, Owners>();

  /** Makes the plugin the field's owner. Throws `failed_precondition` if another plugin has set or removed the field. */
  claim(containerId: string, field: FieldName, { plugin, key }: { plugin: string; key?: string }): void {
    const owner = this.owner(containerId, field, key);
    const other = owner !== undefined && isRemoval(owner) ? removedKey(owner) : owner;
    const isFree = owner === undefined || (isRemoval(owner) && other === plugin);
    if (!isFree) {
      const what = key === undefined ? field : `${field} ${key}`;
      throw new PodwrightError('failed_precondition', `plugins "${plugin}" and "${other}" both set ${what}`);
    }
    this.#set(containerId, field, { owner: plugin, key });
  }

  /** Records that the plugin has removed a value set by an earlier plugin. */
  clear(containerId: string, field: FieldName, { plugin, key }: { plugin: string; key?: string }): void {
    this.#set(containerId, field, { owner: markRemoval(plugin), key });
  }

  /** Adds the plugin to the owners of a field that several plugins can own together, such as `OciHooks`. */
  share(containerId: string, field: FieldName, plugin: string): void {
    const others = this.owner(containerId, field);
    this.#set(containerId, field, { owner: others === undefined ? plugin : `${others},${plugin}` });
  }

  owner(containerId: string, field: FieldName, key?: string): string | undefined {
    const owners = this.#containers.get(containerId);
    return key === undefined ? owners?.simple.get(field) : owners?.compound.get(field)?.get(key);
  }

  /** Returns the owners of all fields as the `OwningPlugins` message that validators receive. */
  message(): OwningPlugins {
    const owners = [...this.#containers].map(([id, { simple, compound }]) => [
      id,
      {
        simple: Object.fromEntries([...simple].map(([field, owner]) => [Field[field], owner])),
        compound: Object.fromEntries(
          [...compound].map(([field, entries]) => [Field[field], { owners: Object.fromEntries(entries) }]),
        ),
      },
    ]);
    return create(OwningPluginsSchema, { owners: Object.fromEntries(owners) });
  }

  #set(containerId: string, field: FieldName, { owner, key }: { owner: string; key?: string | undefined }): void {
    const owners = this.#containers.get(containerId) ?? { simple: new Map(), compound: new Map() };
    this.#containers.set(containerId, owners);
    if (key === undefined) {
      owners.simple.set(field, owner);
      return;
    }
    const entries = owners.compound.get(field) ?? new Map<string, string>();
    owners.compound.set(field, entries.set(key, owner));
  }
}
