/** What a user does, step by step. After each step the objects come to rest and are compared. */
import { AUTOSCALING } from './scenarios-autoscaling.ts';
import { BATCH } from './scenarios-batch.ts';
import { CLUSTER } from './scenarios-cluster.ts';
import { SETS } from './scenarios-sets.ts';
import { STATELESS } from './scenarios-stateless.ts';
import { STORAGE } from './scenarios-storage.ts';
import type { Scenario } from './steps.ts';

export const SCENARIOS: Scenario[] = [...STATELESS, ...SETS, ...BATCH, ...STORAGE, ...CLUSTER, ...AUTOSCALING];
