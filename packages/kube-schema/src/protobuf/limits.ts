import { malformed } from './wire-reader.ts';

/** Maximum depth of messages. Kubernetes' own kinds need less than 30; schemas of custom resources may nest further. */
export const MAX_DEPTH = 100;

/** A struct counts as several values, because some of its empty fields are shown too. */
export const VALUES_OF_STRUCT = 4;

/** Maximum number of values of one object by default: two bytes can make a list's element with many empty fields. */
const MAX_VALUES = 500_000;

export type DecodeLimits = {
  /** How many values (fields, elements, entries) an object may have; clients that read long lists need more than the default of 500,000. */
  maxValues?: number;
};

/** Counts the values of an object and refuses too many. */
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
