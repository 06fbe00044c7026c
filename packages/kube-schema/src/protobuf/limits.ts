import { malformed } from './wire-reader.ts';

/** Maximum nesting depth of messages. Kubernetes' own kinds need less than 30; schemas of custom resources may nest deeper. */
export const MAX_DEPTH = 100;

/** A struct counts as several values, because the output includes some of its empty fields. */
export const VALUES_OF_STRUCT = 4;

/** Default maximum number of values per object. Two bytes of input can encode a list element with many empty fields. */
const MAX_VALUES = 500_000;

export type DecodeLimits = {
  /**
   * Maximum number of values (fields, elements, entries) in an object. Clients that read long lists need more than the default of 500,000.
   */
  maxValues?: number;
};

/** Counts the values of an object and throws if there are too many. */
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
