/** Validates the indexes in an Indexed Job's status. */
import type { ApiObject } from '../api-object.ts';
import type { Field } from '../field.ts';
import { numberAt, objectAt, textAt, valueAt } from '../values.ts';
import { countIndexes, overlapProblem } from './index-intervals.ts';
import { isIndexed } from './job-spec.ts';

/**
 * A Job status update to validate. `isChanged` returns true if the update changes any of the named status fields; upstream applies most
 * rules only to changed fields.
 */
export type Check = { job: ApiObject; old: ApiObject; field: Field; isChanged: (...names: string[]) => boolean };

export function validateIndexes({ job, field, isChanged }: Check): void {
  const completions = numberAt(job, 'spec', 'completions');
  const completed = textAt(job, 'status', 'completedIndexes');
  const failed = textAt(job, 'status', 'failedIndexes');
  const hasFailed = valueAt(job, 'status', 'failedIndexes') !== undefined;
  const hasLimit = valueAt(job, 'spec', 'backoffLimitPerIndex') !== undefined;
  const check = (name: string, text: string) => {
    const count = completions === undefined ? 0 : countIndexes(text, completions);
    if (typeof count === 'string') field.at(name).invalid(text, `error parsing ${name}: ${count}`);
  };
  if (isChanged('completedIndexes')) check('completedIndexes', completed);
  if (isChanged('failedIndexes') && hasFailed && hasLimit) check('failedIndexes', failed);
  if (isChanged('completedIndexes') && completed !== '' && !isIndexed(objectAt(job, 'spec')))
    field
      .at('completedIndexes')
      .invalid(completed, 'cannot set non-empty completedIndexes when non-indexed completion mode');
  if (isChanged('failedIndexes') && hasFailed && !hasLimit)
    field.at('failedIndexes').invalid(failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null');
  if (!isChanged('failedIndexes', 'completedIndexes') || completions === undefined) return;
  const problem = overlapProblem(completed, failed, completions);
  if (problem !== undefined) field.at('failedIndexes').invalid(failed, problem);
}
