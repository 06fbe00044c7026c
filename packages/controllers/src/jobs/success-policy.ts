import type { SuccessRule } from '../objects/job.ts';
import { IndexSet } from './index-set.ts';

/** Returns the index of the first success policy rule met by the succeeded indexes (upstream's pkg/controller/job/success_policy.go). */
export function metSuccessRule(
  rules: readonly SuccessRule[],
  succeeded: IndexSet,
  completions: number,
): number | undefined {
  if (succeeded.size === 0) return undefined;
  const index = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
    const required = IndexSet.parse(succeededIndexes, completions);
    if (required.size === 0) return false;
    const count = required.overlap(succeeded);
    return count === required.size || (succeededCount !== undefined && count >= succeededCount);
  });
  return index < 0 ? undefined : index;
}
