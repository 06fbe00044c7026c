import { malformed } from './wire-reader.ts';

/**
 * Maximum nesting depth of messages. Kubernetes' own kinds need fewer than 30 levels; custom resource schemas may be nested more deeply.
 */
export const MAX_DEPTH = 100;

/**
 * Number of values that a struct counts as. More than one, because the output includes some of the struct's empty fields even if the input
 * does not.
 */
export const VALUES_OF_STRUCT = 4;

/** Default maximum number of values per object. As little as two bytes of input can encode a list element with many empty fields. */
const MAX_VALUES = 500_000;

export type DecodeLimits = {
  /**
   * Maximum number of values (fields, list elements, map entries) in an object. Clients that read long lists need more than the default of
   * 500,000.
   */
  maxValues?: number;
};

/** Counts an object's values and throws if there are too many. */
export class ValueBudget {
  readonly #maxValues: number;
  #count = 0;

  constructor({ maxValues = MAX_VALUES }: DecodeLimits = {}) {
    this.#maxValues = maxValues;
  }

  spend(offset: number, count = 1): void {
    this.#count += count;
    if (this.#count > this.#maxValues) throw malformed(offset, `the object has more than ${this.#maxValues} values`);
  }
}
