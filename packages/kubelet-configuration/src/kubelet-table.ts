/** The `[kubelet]` table of Podwright's own configuration file. Its keys are defined by the rows of the field table. */
import * as z from 'zod';
import { completeConfiguration } from './complete-configuration.ts';
import { configuredOptions } from './configured-options.ts';
import { FIELDS, type KubeletConfiguration } from './fields/field-table.ts';
import type { ConfigurableOptions } from './options/configurable-options.ts';
import { thresholdProblems } from './thresholds/thresholds.ts';

/** Pod eviction thresholds, named as in KubeletConfiguration. */
const EvictionSchema = z.strictObject(keysOf('kubelet.eviction')).superRefine((eviction, context) => {
  const keys = { hard: 'hard', soft: 'soft', softGracePeriod: 'soft_grace_period', minimumReclaim: 'minimum_reclaim' };
  const amountsOf = (key: string) => (eviction[key] ?? {}) as Record<string, string>;
  const settings = {
    hard: amountsOf(keys.hard),
    soft: amountsOf(keys.soft),
    softGracePeriod: amountsOf(keys.softGracePeriod),
    minimumReclaim: amountsOf(keys.minimumReclaim),
  };
  for (const { setting, message } of thresholdProblems(settings))
    context.addIssue({ code: 'custom', path: [keys[setting]], message });
});

export const KubeletTable = z
  .strictObject({
    ...keysOf('kubelet'),
    eviction: EvictionSchema.prefault({}),
    server: z.strictObject(keysOf('kubelet.server')).prefault({}),
  })
  .refine(criticalPodsArePart, {
    path: ['shutdown_critical_pods_seconds'],
    error: 'must be at most shutdown_grace_period_seconds',
  });

export type KubeletTable = z.infer<typeof KubeletTable>;

function criticalPodsArePart(table: Record<string, unknown>): boolean {
  return Number(table.shutdown_critical_pods_seconds) <= Number(table.shutdown_grace_period_seconds);
}

/** Returns the schemas of a TOML table's own keys, excluding those of nested tables. */
function keysOf(table: string): Record<string, z.ZodType> {
  const keys = [...FIELDS.values()].flatMap(({ key }) => {
    const [, parent, name] = /^(.*)\.([^.]+)$/.exec(key?.path ?? '') ?? [];
    return key?.schema === undefined || parent !== table ? [] : [[name!, key.schema] as const];
  });
  return Object.fromEntries(keys);
}

/** Returns the field values set by the `[kubelet]` table, including its defaults. */
export function fieldsOfTable(table: KubeletTable): Partial<KubeletConfiguration> {
  const fields = [...FIELDS].flatMap(([name, { key }]) => {
    if (key?.schema === undefined) return [];
    const [, ...steps] = key.path.split('.');
    const value = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], table);
    return value === undefined ? [] : [[name, key.toField(value as never)] as const];
  });
  return Object.fromEntries(fields);
}

/**
 * Returns the options with the fields of Podwright's own configuration file applied. By default, authenticated callers of the kubelet API
 * may do everything.
 */
export function optionsOfTable(
  options: ConfigurableOptions,
  fields: Partial<KubeletConfiguration>,
): ConfigurableOptions {
  const configuration: KubeletConfiguration = {
    ...completeConfiguration(new Map()),
    'authorization.mode': 'AlwaysAllow',
    ...fields,
  };
  return configuredOptions(options, configuration, (name) => Object.hasOwn(fields, name));
}
