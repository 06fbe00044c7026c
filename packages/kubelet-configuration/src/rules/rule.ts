import type { FieldName, KubeletConfiguration } from '../fields/field-table.ts';

/** What is wrong with a field. */
export type Problem = { field: FieldName; message: string };

/** What of the host a configuration must fit. */
export type HostFacts = { cgroupVersion: 'v1' | 'v2' | 'none' };

export type Rule = (configuration: KubeletConfiguration, host: HostFacts) => Problem[];

/** A problem with a field unless all is well. */
export function must(isWell: boolean, field: FieldName, message: string): Problem[] {
  return isWell ? [] : [{ field, message }];
}

type NumberName = { [K in FieldName]: KubeletConfiguration[K] extends number ? K : never }[FieldName];

/** Numbers from `min` to `max`. */
export function within(fields: NumberName[], min: number, max = Number.POSITIVE_INFINITY): Rule {
  const bounds = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `between ${min} and ${max}`;
  return (configuration) =>
    fields.flatMap((field) => {
      const value = configuration[field];
      return must(value >= min && value <= max, field, `must be ${bounds}`);
    });
}
