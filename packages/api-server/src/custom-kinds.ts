/** A server's custom kinds, as defined by its CustomResourceDefinitions. */

import { type ObjectStore, timestamp } from '@podwright/api-machinery';
import type * as CustomResources from '@podwright/custom-resources';
import type { CustomRules, DefinedKinds } from '@podwright/custom-resources';
import type * as Rules from '@podwright/custom-resources/rules';
import { type ApiObject, type FieldError, forbiddenField, STRATEGIES, type Strategy } from '@podwright/kube-kinds';
import { type CustomKind, decodeJson, type JsonObject, type Resource, type Schema } from '@podwright/kube-schema';

export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

/** Maximum number of definitions. Bounds the schemas' memory usage and the time needed to install them. */
const MAX_DEFINITIONS = 1000;

/** The error that ends watches of a custom resource when its definition changes. */
const CHANGED = new Error('the definition of the resource has changed');

type Library = typeof CustomResources;
type RuleLibrary = typeof Rules;

/** The kinds of a definition. They are reused as long as `key`, which contains everything that they depend on, is unchanged. */
type Installed = { key: string; kinds: DefinedKinds };

export class CustomKinds {
  readonly #schema: Schema;
  readonly #store: ObjectStore;
  readonly #maxDefinitions: number;
  readonly #kinds = new WeakMap<Resource, CustomRules>();
  readonly #listeners = new Set<() => void>();
  readonly #ends = new WeakMap<Resource, AbortController>();
  #installed: ReadonlyMap<string, Installed> = new Map();
  #library: Library | undefined;
  #rules: RuleLibrary | undefined;

  constructor(schema: Schema, store: ObjectStore, maxDefinitions = MAX_DEFINITIONS) {
    this.#schema = schema;
    this.#store = store;
    this.#maxDefinitions = maxDefinitions;
  }

  /** Loads the code for custom kinds, which is not needed while there are no definitions. */
  async load(): Promise<Library> {
    this.#library ??= await import('@podwright/custom-resources');
    return this.#library;
  }

  /** Loads the code for CEL rules once there is a definition with such rules. */
  async #loadRules(definitions: readonly ApiObject[]): Promise<void> {
    const { hasRules } = await this.load();
    if (this.#rules === undefined && definitions.some(hasRules))
      this.#rules = await import('@podwright/custom-resources/rules');
  }

  /** All custom kinds, with one resource for each served version. */
  get resources(): readonly Resource[] {
    return [...this.#installed.values()].flatMap(({ kinds }) => kinds.versions.map(({ resource }) => resource));
  }

  readonly rulesOf = (resource: Resource): CustomRules | undefined => this.#kinds.get(resource);

  /** Returns a signal that aborts when the resource's definition changes or is removed. */
  endOf(resource: Resource): AbortSignal {
    const end = this.#ends.get(resource) ?? new AbortController();
    this.#ends.set(resource, end);
    if (!this.resources.includes(resource)) end.abort(CHANGED);
    return end.signal;
  }

  /** Registers a function to call after each change of the kinds. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Loads the custom kinds of all definitions in the store. */
  async open(): Promise<void> {
    const definitions = this.#store.list(DEFINITIONS).objects.map((object) => object.decode());
    if (definitions.length > 0) await this.install(definitions);
  }

  /** Replaces the custom kinds with those of the given definitions that have the condition `Established`. */
  async install(definitions: readonly ApiObject[]): Promise<void> {
    const { hasCondition, definedKinds } = await this.load();
    const established = definitions.filter((one) => hasCondition(one, 'Established'));
    await this.#loadRules(established);
    const next = new Map<string, Installed>();
    for (const definition of established) {
      const isEnding = hasCondition(definition, 'Terminating');
      const { uid = '', generation } = definition.metadata;
      const key = JSON.stringify([generation, (definition.status as JsonObject).acceptedNames, isEnding]);
      const known = this.#installed.get(uid);
      const kinds = known?.key === key ? known.kinds : definedKinds(definition, isEnding);
      if (kinds !== undefined) next.set(uid, { key, kinds });
    }
    const isSame =
      next.size === this.#installed.size &&
      [...next].every(([uid, { kinds }]) => this.#installed.get(uid)?.kinds === kinds);
    if (isSame) return;
    const ended = [...this.#installed].filter(([uid, { kinds }]) => next.get(uid)?.kinds !== kinds);
    this.#installed = next;
    this.#schema.setCustomKinds([...next.values()].flatMap(({ kinds }) => withStored(kinds)));
    for (const { kinds } of next.values()) this.#setRules(kinds);
    for (const listener of this.#listeners) listener();
    for (const [, { kinds }] of ended)
      for (const { resource } of kinds.versions) this.#ends.get(resource)?.abort(CHANGED);
  }

  #setRules({ versions, stored }: DefinedKinds): void {
    const { customStrategy, customConversion } = this.#library!;
    const decode = (object: JsonObject, { resource }: CustomKind): ApiObject =>
      decodeJson(object, { schema: this.#schema, type: this.#schema.kind(resource)! }).object as ApiObject;
    for (const version of versions)
      if (!this.#kinds.has(version.resource))
        this.#kinds.set(version.resource, {
          strategy: customStrategy(version, this.#rules?.objectRules(version.type.schema)),
          conversion: customConversion(version, stored, decode),
        });
  }

  #countErrors(): FieldError[] {
    const count = this.#store.list(DEFINITIONS).objects.length;
    const detail = `this server serves ${this.#maxDefinitions} CustomResourceDefinitions at most`;
    return count < this.#maxDefinitions ? [] : [forbiddenField('spec', detail)];
  }

  /** Returns errors in the schemas and their CEL rules. Rules are only compiled if the schemas are valid. */
  #schemaErrors(definition: ApiObject, old?: ApiObject): FieldError[] {
    const errors = this.#library!.definitionSchemaErrors(definition, old);
    if (errors.length > 0 || this.#rules === undefined) return errors;
    return this.#rules.definitionRuleErrors(definition, old);
  }

  /** Returns the strategy for definitions, including schema validation. */
  definitionStrategy(now: () => number): Strategy {
    const strategy = STRATEGIES[DEFINITIONS]!;
    const library = () => this.#library!;
    return {
      ...strategy,
      load: (object) => this.#loadRules([object]),
      validate: (object) => [
        ...(strategy.validate?.(object) ?? []),
        ...this.#countErrors(),
        ...library().conversionErrors(object),
        ...this.#schemaErrors(object),
        ...library().selectableErrors(object),
      ],
      validateUpdate: (object, old) => [
        ...(strategy.validateUpdate?.(object, old) ?? []),
        ...library().conversionErrors(object),
        ...this.#schemaErrors(object, old),
        ...library().selectableErrors(object),
      ],
      prepareForDelete: (object) => library().withCleanup(object, timestamp(now())),
    };
  }
}

/** Returns the served versions of a custom kind and its stored version, with their types. */
function withStored({ versions, stored }: DefinedKinds): (CustomKind & { isServed: boolean })[] {
  const served = versions.map(({ resource, type }) => ({ resource, type, isServed: true }));
  if (versions.includes(stored)) return served;
  return [...served, { resource: stored.resource, type: stored.type, isServed: false }];
}
