import { brotliDecompressSync } from 'node:zlib';
import { PodwrightError } from '@podwright/base';
import type { CustomType } from './custom-schema.ts';
import { type CustomResource, customStruct, keyOf, namedTypes } from './custom-struct.ts';
import type { StructType } from './field.ts';
import { type GroupVersionKind, parseApiVersion, type Resource } from './resource.ts';
import { parseType } from './type-text.ts';

/** The data in the generated module `gen/kubernetes.js`. */
type SchemaData = {
  /** API groups, keyed by the first component of the names of their types. */
  groups: Record<string, string>;
  resources: Resource[];
  types: Record<string, string>;
};

/** Kinds used in requests and responses that exist in every group version. */
const IN_EACH_GROUP = /^(?:(?:Create|Delete|Get|List|Patch|Update)Options|Status|WatchEvent)$/;

/** One version of a custom kind: its resource and its type. */
export type CustomKind = { resource: Resource; type: CustomType };

/**
 * The built-in kinds and resources of Kubernetes 1.36, and a server's custom kinds. Each built-in type is parsed on first use, so a program
 * pays only for the kinds that it uses.
 */
export class Schema {
  readonly #builtIn: readonly Resource[];
  #custom: ReadonlyMap<string, CustomResource> = new Map();
  #customTypes: ReadonlyMap<string, StructType> = new Map();
  readonly #texts: ReadonlyMap<string, string>;
  readonly #types = new Map<string, StructType>();
  readonly #derived = new Map<string, unknown>();
  /** Maps each API group to the first component of the names of its types. */
  readonly #directories: ReadonlyMap<string, string>;
  readonly #byPlural: ReadonlyMap<string, Resource>;

  private constructor({ groups, resources, types }: SchemaData) {
    this.#builtIn = resources;
    this.#texts = new Map(Object.entries(types));
    this.#directories = new Map(Object.entries(groups).map(([directory, group]) => [group, directory]));
    this.#byPlural = new Map(
      resources.map((resource) => [[resource.group, resource.version, resource.plural].join('/'), resource]),
    );
  }

  /** Decompresses and parses the schema data. This takes a few milliseconds, so callers should share the result. */
  static async load(): Promise<Schema> {
    const { COMPRESSED } = await import('../gen/kubernetes.js');
    return new Schema(JSON.parse(brotliDecompressSync(Buffer.from(COMPRESSED, 'base64')).toString()));
  }

  get resources(): readonly Resource[] {
    if (this.#custom.size === 0) return this.#builtIn;
    return [...this.#builtIn, ...[...this.#custom.values()].map(({ resource }) => resource)];
  }

  /** Replaces the custom kinds. For a version that is not served, only the type can be looked up, not the resource. */
  setCustomKinds(kinds: readonly (CustomKind & { isServed?: boolean })[]): void {
    const objectType = this.type('meta.v1.PartialObjectMetadata');
    const all = kinds.map((kind) => ({ ...kind, type: customStruct(kind.resource, kind.type, objectType) }));
    const served = all.filter(({ isServed = true }) => isServed);
    this.#custom = new Map(served.map((one) => [keyOf(one.resource, one.resource.plural), one]));
    this.#customTypes = new Map(all.flatMap(({ resource, type }) => namedTypes(resource, type)));
  }

  /** Finds a resource by its API group ('' for core), version and plural name. */
  resource(group: string, version: string, plural: string): Resource | undefined {
    const key = [group, version, plural].join('/');
    return this.#byPlural.get(key) ?? this.#custom.get(key)?.resource;
  }

  /** Returns the type of a kind, including lists, options and other kinds that have no resource. */
  kind({ group, version, kind }: GroupVersionKind): StructType | undefined {
    const directory = this.#directories.get(group);
    const own = directory === undefined ? undefined : this.#find(`${directory}.${version}.${kind}`);
    if (own?.isObject) return own;
    const custom = this.#customTypes.get([group, version, kind].join('/'));
    if (custom !== undefined) return custom;
    const isMeta = (group === '' && version === 'v1') || (this.#hasGroup(group) && IN_EACH_GROUP.test(kind));
    const meta = isMeta ? this.#find(`meta.v1.${kind}`) : undefined;
    return meta?.isObject || kind === 'WatchEvent' ? meta : undefined;
  }

  /** Returns the type of an object with the given `apiVersion` and `kind`. */
  kindOf({ apiVersion, kind }: { apiVersion: string; kind: string }): StructType | undefined {
    const version = parseApiVersion(apiVersion);
    return version && this.kind({ ...version, kind });
  }

  /** Finds a type by its name, such as `core.v1.PodSpec`. Throws `not_found`. */
  type(name: string): StructType {
    const type = this.#find(name);
    if (type === undefined)
      throw new PodwrightError('not_found', `look up type ${name}: Kubernetes 1.36 has no such type`);
    return type;
  }

  /** Returns the result of `derive` for a built-in type, cached under `purpose` and the type's name. */
  derived<T>({ name }: StructType, purpose: string, derive: () => T): T {
    const key = `${purpose} ${name}`;
    if (!this.#derived.has(key)) this.#derived.set(key, derive());
    return this.#derived.get(key) as T;
  }

  #hasGroup(group: string): boolean {
    return this.#directories.has(group) || [...this.#custom.values()].some(({ resource }) => resource.group === group);
  }

  #find(name: string): StructType | undefined {
    const known = this.#types.get(name) ?? this.#customTypes.get(name);
    const text = known === undefined ? this.#texts.get(name) : undefined;
    if (text === undefined) return known;
    const type = parseType(name, text, (inlined) => this.type(inlined));
    this.#types.set(name, type);
    return type;
  }
}
