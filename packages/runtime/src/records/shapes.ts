import * as z from 'zod';
import type { ContainerResources } from './container-record.ts';

/**
 * Schemas shared by sandbox and container records. They preserve unknown fields, because a newer version of Podwright might have written
 * them before a downgrade, and would need them after the next upgrade.
 */
export const stringMap = z.record(z.string(), z.string());
export const strings = z.array(z.string());

const idMapping = z.looseObject({ containerId: z.number(), hostId: z.number(), length: z.number() });
export const idMappings = z.looseObject({ uids: z.array(idMapping), gids: z.array(idMapping) });

export const selinuxOptions = z.looseObject({
  user: z.string(),
  role: z.string(),
  type: z.string(),
  level: z.string(),
});

export const containerResources = z.looseObject({
  cpuPeriod: z.number(),
  cpuQuota: z.number(),
  cpuShares: z.number(),
  memoryLimitBytes: z.number(),
  memorySwapLimitBytes: z.number(),
  oomScoreAdj: z.number(),
  cpusetCpus: z.string(),
  cpusetMems: z.string(),
  hugepageLimits: z.array(z.looseObject({ pageSize: z.string(), limitBytes: z.number() })),
  unified: stringMap,
}) satisfies z.ZodType<ContainerResources>;
