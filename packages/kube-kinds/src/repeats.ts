import { duplicate, type FieldError } from './field-error.ts';

/** Returns a list with, for each value, whether it repeats an earlier one. Takes linear time: clients may send long lists. */
export function repeats<T>(values: readonly T[]): boolean[] {
  const seen = new Set<T>();
  return values.map((value) => seen.size === seen.add(value).size);
}

/** Returns an error for each value that repeats an earlier one. `field` returns the field path for the value's index. */
export const duplicates = <T>(values: readonly T[], field: (index: number) => string): FieldError[] =>
  repeats(values).flatMap((isRepeated, index) => (isRepeated ? [duplicate(field(index), values[index])] : []));
