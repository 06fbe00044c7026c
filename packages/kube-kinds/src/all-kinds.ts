import { ACCESS_STRATEGIES } from './access/access-strategies.ts';
import { CORE_CONVERSIONS, CORE_STRATEGIES } from './core/core-strategies.ts';
import { STORAGE_STRATEGIES } from './storage/storage-strategies.ts';
import type { Conversions, Strategies } from './strategy.ts';
import { WORKLOAD_CONVERSIONS, WORKLOAD_STRATEGIES } from './workloads/workloads.ts';

/** The strategies of all built-in kinds. */
export const STRATEGIES: Strategies = {
  ...CORE_STRATEGIES,
  ...WORKLOAD_STRATEGIES,
  ...STORAGE_STRATEGIES,
  ...ACCESS_STRATEGIES,
};

/** Conversions for versions of built-in kinds that are served but not stored. */
export const CONVERSIONS: Conversions = { ...CORE_CONVERSIONS, ...WORKLOAD_CONVERSIONS };
