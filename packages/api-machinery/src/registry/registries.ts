import { apiVersionOf, type FieldSet, parseFieldsV1, type Resource } from '@podwright/kube-schema';
import type { Admission } from '../admission-contract.ts';
import { FieldManager } from '../managed-fields/field-manager.ts';
import { FieldSets } from '../managed-fields/field-sets.ts';
import type { OtherVersion } from '../managed-fields/owner-updater.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { NO_ADMISSION } from './admission-attributes.ts';
import { type Allocate, NO_ALLOCATION } from './allocation.ts';
import { SCALE_RESOURCE } from './change-scale.ts';
import { resetFields } from './object-rules.ts';
import type { ResourceParts } from './resource-parts.ts';
import { ResourceRegistry } from './resource-registry.ts';
import { type KindData, ServedKind } from './served-kind.ts';
import { storeResource } from './stored-resource.ts';

export type RegistriesParts = KindData & {
  /** The object store. It must have been opened with `STORE_INDEXES`. */
  store: ObjectStore;
  /** Admission control for all writes. Default: admits them unchanged. */
  admission?: Admission;
  /** Functions that allocate values such as cluster IPs to new objects, by store resource. */
  allocations?: Readonly<Record<string, Allocate>>;
};

/** The registries of all resources, created on first use. */
export class Registries {
  readonly #parts: RegistriesParts;
  // weak maps, because the resources of a custom kind are replaced when its definition changes, and the old ones can then be
  // garbage-collected
  readonly #kinds = new WeakMap<Resource, ServedKind>();
  readonly #registries = new WeakMap<Resource, ResourceRegistry>();
  readonly #fieldSets = new FieldSets();

  constructor(parts: RegistriesParts) {
    this.#parts = parts;
  }

  /** Returns the registry of a resource in the schema. */
  for(resource: Resource): ResourceRegistry {
    const made = this.#registries.get(resource);
    if (made !== undefined) return made;
    const { store, schema, admission = NO_ADMISSION, allocations = {} } = this.#parts;
    const kind = this.#kind(resource);
    const fieldManager = remembered((subresource) => this.#fieldManager(kind, subresource));
    const allocate = allocations[kind.storeResource] ?? NO_ALLOCATION;
    const kindIn = (one: Resource) => this.#kind(one);
    const parts = { store, kind, kindIn, admission, allocate, fieldManager };
    const registry = new ResourceRegistry(parts, schema, { ...parts, ...this.#scales() });
    this.#registries.set(resource, registry);
    return registry;
  }

  #scales(): Pick<ResourceParts, 'kind' | 'fieldManager'> {
    const kind = this.#kind(SCALE_RESOURCE);
    const { schema } = this.#parts;
    const { type, apiVersion, emptyObject } = kind;
    const options = { schema, type, apiVersion, kind: SCALE_RESOURCE, subresource: 'scale', emptyObject };
    return { kind, fieldManager: () => new FieldManager(options) };
  }

  #kind(resource: Resource): ServedKind {
    const kind = this.#kinds.get(resource) ?? new ServedKind(resource, this.#parts);
    this.#kinds.set(resource, kind);
    return kind;
  }

  #fieldManager(kind: ServedKind, subresource: string): FieldManager {
    const { schema } = this.#parts;
    const { resource, type, apiVersion, emptyObject } = kind;
    const ignored = fieldSetOf(resetFields(kind, subresource));
    const otherVersions = this.#otherVersions(kind);
    return new FieldManager({
      schema,
      type,
      apiVersion,
      kind: resource,
      subresource,
      emptyObject,
      ignored,
      otherVersions,
      fieldSets: this.#fieldSets,
    });
  }

  #otherVersions(kind: ServedKind): Map<string, OtherVersion> {
    const { schema } = this.#parts;
    const others = schema.resources.filter(
      (one) => one !== kind.resource && storeResource(schema, one) === kind.storeResource,
    );
    const versions = others.map((resource): [string, OtherVersion] => {
      const other = this.#kind(resource);
      const convert: OtherVersion['convert'] = (object) => other.fromStored(kind.toStored(object as never));
      return [apiVersionOf(resource), { type: other.type, convert }];
    });
    return new Map(versions);
  }
}

function fieldSetOf(paths: readonly (readonly string[])[]): FieldSet {
  const sets = paths.map((path) => parseFieldsV1(path.reduceRight((below, name) => ({ [`f:${name}`]: below }), {})));
  return sets.reduce((all, set) => all.union(set), parseFieldsV1({}));
}

/** Memoizes a function. */
function remembered<T>(compute: (key: string) => T): (key: string) => T {
  const results = new Map<string, T>();
  return (key) => {
    const result = results.get(key) ?? compute(key);
    results.set(key, result);
    return result;
  };
}
