import type { FieldName, KubeletConfiguration } from '../fields/field-table.ts';

/** A problem with the value of a field. */
export type Problem = { field: FieldName; message: string };

/** Facts about the host on which the validity of a configuration depends. */
export type HostFacts = { cgroupVersion: 'v1' | 'v2' | 'none' };

export type Rule = (configuration: KubeletConfiguration, host: HostFacts) => Problem[];

/** Returns no problem if the condition holds. */
export function must(holds: boolean, field: FieldName, message: string): Problem[] {
  return holds ? [] : [{ field, message }];
}
