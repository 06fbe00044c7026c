import type { ApiObject, Conversion, Conversions, Strategies, Strategy } from '@podwright/kube-kinds';
import {
  apiVersionOf,
  decodeJson,
  type JsonObject,
  type Resource,
  type Schema,
  type StructType,
} from '@podwright/kube-schema';
import { badRequest, groupResource } from '../status/api-error.ts';
import { StoredObject } from '../store/stored-object.ts';
import { storedResource } from './stored-resource.ts';

export type KindData = {
  schema: Schema;
  strategies: Strategies;
  conversions?: Conversions;
  /** Returns the strategy and the version conversion of a custom resource; `undefined` if it is unknown. */
  customRules?: (resource: Resource) => { strategy: Strategy; conversion: Conversion } | undefined;
};

/** A kind in one of its served versions, with its strategy. */
export class ServedKind {
  readonly resource: Resource;
  /** The group resource under which the objects are stored. */
  readonly storeResource: string;
  readonly apiVersion: string;
  /** The group and kind to use in validation errors, which are those of the storage version. */
  readonly internalKind: Pick<Resource, 'group' | 'kind'>;
  readonly type: StructType;
  readonly strategy: Strategy;
  /** The conversion between the served version and the storage version; `undefined` if they are the same. */
  readonly conversion: Conversion | undefined;
  /** An empty object in the served version, including the fields that Go never omits. */
  readonly emptyObject: ApiObject;
  /** An empty object in the storage version, including the fields that Go never omits. */
  readonly emptyStored: ApiObject;
  readonly #schema: Schema;
  readonly #storedType: StructType;
  readonly #served = new WeakMap<StoredObject, WeakRef<StoredObject>>();

  constructor(resource: Resource, { schema, strategies, conversions = {}, customRules }: KindData) {
    const stored = storedResource(schema, resource);
    this.resource = resource;
    this.storeResource = groupResource(stored);
    this.apiVersion = apiVersionOf(resource);
    this.internalKind = { group: stored.group, kind: stored.kind };
    this.type = schema.kind(resource)!;
    const custom = resource.isCustom ? customRules?.(resource) : undefined;
    this.strategy = custom?.strategy ?? strategies[this.storeResource] ?? {};
    this.conversion = custom?.conversion ?? conversions[`${groupResource(resource)}/${resource.version}`];
    this.#schema = schema;
    this.#storedType = schema.kind(stored)!;
    this.emptyObject = this.decode({}).object;
    this.emptyStored = decodeJson({}, { schema, type: this.#storedType }).object as ApiObject;
  }

  get name(): string {
    return this.resource.kind;
  }

  hasSubresource(name: string): boolean {
    return Object.hasOwn(this.resource.subresources ?? {}, name);
  }

  /**
   * Decodes an object in the served version. Throws `invalid_argument` with Go's error message. `source`: what upstream decodes the object
   * from, which determines the message. `decoded`: an already decoded object in the served version, whose parts can be reused.
   */
  decode(
    value: JsonObject,
    { source, decoded }: { source?: 'json' | 'map'; decoded?: ApiObject } = {},
  ): { object: ApiObject; problems: string[] } {
    const { object, problems } = decodeJson(value, { schema: this.#schema, type: this.type, source, decoded });
    return { object: object as ApiObject, problems };
  }

  /** Throws a 400 `ApiError` if the decoded object cannot be converted from the served version to the internal type. */
  checkConversion(object: ApiObject): void {
    const problem = this.conversionProblem(object);
    const { kind, version } = this.resource;
    if (problem !== undefined)
      throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`);
  }

  /** Returns why the decoded object cannot be converted from the served version to the internal type. */
  conversionProblem(object: ApiObject): string | undefined {
    return this.strategy.conversionProblem?.(this.toStored(object));
  }

  toStored(object: ApiObject): ApiObject {
    return this.conversion === undefined ? object : this.conversion.toStored(object);
  }

  fromStored(object: ApiObject): ApiObject {
    return this.conversion === undefined ? object : this.conversion.fromStored(object);
  }

  /** Returns an object in the storage version without the fields that are not stored. */
  storable(object: ApiObject): ApiObject {
    return this.conversion?.storable?.(object) ?? object;
  }

  /**
   * Converts a stored object to the served version. The result is cached until the next garbage collection, because many watches need it at
   * the same time.
   */
  served(stored: StoredObject): StoredObject {
    if (this.conversion === undefined) return stored;
    const known = this.#served.get(stored)?.deref();
    if (known !== undefined) return known;
    const served = StoredObject.encode(stored.key, stored.revision, this.conversion.fromStored(stored.decode()));
    this.#served.set(stored, new WeakRef(served));
    return served;
  }

  /** Converts a decoded object to the storage version and applies the kind's defaults. */
  complete(object: ApiObject): ApiObject {
    const stored = this.toStored(object);
    return this.strategy.applyDefaults?.(stored) ?? stored;
  }
}
