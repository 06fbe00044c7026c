/** All scenarios. After each step of a scenario, its objects are compared once they have settled. */
import { AUTOSCALING } from './scenarios-autoscaling.ts';
import { BATCH } from './scenarios-batch.ts';
import { CERTIFICATES } from './scenarios-certificates.ts';
import { CLUSTER } from './scenarios-cluster.ts';
import { SETS } from './scenarios-sets.ts';
import { STATELESS } from './scenarios-stateless.ts';
import { STORAGE } from './scenarios-storage.ts';
import type { Scenario } from './steps.ts';

export const SCENARIOS: Scenario[] = [
  ...STATELESS,
  ...SETS,
  ...BATCH,
  ...STORAGE,
  ...CLUSTER,
  ...CERTIFICATES,
  ...AUTOSCALING,
];
