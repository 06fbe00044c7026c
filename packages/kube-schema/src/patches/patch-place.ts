import { isStructType, type PatchStrategy, type StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { patchError } from './patch-error.ts';

const PLAIN: PatchStrategy = { merge: false, retainKeys: false, replace: false };

/** The type information for one position in a patch: for a struct, for a map whose values have a given type, or for untyped JSON. */
export class PatchPlace {
  readonly #schema: Schema;
  readonly #struct: StructType | undefined;
  readonly #elements: string | undefined;
  readonly strategy: PatchStrategy;

  private constructor(schema: Schema, inside: { struct?: StructType; elements?: string }, strategy = PLAIN) {
    this.#schema = schema;
    this.#struct = inside.struct;
    this.#elements = inside.elements;
    this.strategy = strategy;
  }

  static of(schema: Schema, struct: StructType): PatchPlace {
    return new PatchPlace(schema, { struct });
  }

  /**
   * Returns the position of a struct field or map entry, with its patch strategy. For a list, the same position also describes its
   * elements.
   */
  at(name: string): PatchPlace {
    if (this.#struct === undefined) return this.#below(this.#elements, 'none');
    const field = this.#struct.byName.get(name);
    if (field === undefined)
      throw patchError(
        'internal',
        `unable to find api field in struct ${this.#struct.name.split('.').at(-1)} for the json field ${JSON.stringify(name)}`,
      );
    return this.#below(field.type, field.container, field.patch);
  }

  #below(type: string | undefined, container: string, strategy = PLAIN): PatchPlace {
    if (container === 'map') return new PatchPlace(this.#schema, { elements: type }, strategy);
    const struct = type !== undefined && isStructType(type) ? this.#schema.type(type) : undefined;
    return new PatchPlace(this.#schema, { struct }, strategy);
  }
}
