import type { FieldName, KubeletConfiguration } from '../fields/field-table.ts';

/** A problem with a field's value. */
export type Problem = { field: FieldName; message: string };

/** Facts about the host that determine whether a configuration is valid. */
export type HostFacts = { cgroupVersion: 'v1' | 'v2' | 'none' };

export type Rule = (configuration: KubeletConfiguration, host: HostFacts) => Problem[];

/** Returns `message` as the only problem, for `field`, if the condition does not hold; otherwise no problems. */
export function must(holds: boolean, field: FieldName, message: string): Problem[] {
  return holds ? [] : [{ field, message }];
}
