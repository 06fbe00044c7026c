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
