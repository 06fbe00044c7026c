import type { FieldName, KubeletConfiguration } from '../fields/field-table.ts';

/** A problem with the value of a field. */
export type Problem = { field: FieldName; message: string };

/** The facts about the host that a configuration must fit. */
export type HostFacts = { cgroupVersion: 'v1' | 'v2' | 'none' };

export type Rule = (configuration: KubeletConfiguration, host: HostFacts) => Problem[];

/** No problem if the condition holds. */
export function must(holds: boolean, field: FieldName, message: string): Problem[] {
  return holds ? [] : [{ field, message }];
}

type NumberName = { [K in FieldName]: KubeletConfiguration[K] extends number ? K : never }[FieldName];

/** Numeric fields must be from `min` to `max`. */
export function within(fields: NumberName[], min: number, max = Number.POSITIVE_INFINITY): Rule {
  const bounds = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `between ${min} and ${max}`;
  return (configuration) =>
    fields.flatMap((field) => {
      const value = configuration[field];
      return must(value >= min && value <= max, field, `must be ${bounds}`);
    });
}
