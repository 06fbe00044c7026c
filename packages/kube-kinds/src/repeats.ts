import { duplicate, type FieldError } from './field-error.ts';

/** For each value, whether an earlier one is the same. Lists of clients may be long: this takes linear time. */
export function repeats<T>(values: readonly T[]): boolean[] {
  const seen = new Set<T>();
  return values.map((value) => seen.size === seen.add(value).size);
}

/** An error for each value that an earlier one equals; `field` returns the path of the value at an index. */
export const duplicates = <T>(values: readonly T[], field: (index: number) => string): FieldError[] =>
  repeats(values).flatMap((isRepeated, index) => (isRepeated ? [duplicate(field(index), values[index])] : []));
