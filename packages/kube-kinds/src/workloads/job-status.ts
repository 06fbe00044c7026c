/** Validates a Job's status and changes to it (validateJobStatus, ValidateJobStatusUpdate). */
import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { isSameValue, numberAt, objectAt, textAt, textsAt, valueAt } from '../values.ts';
import { isComplete, isConditionFalse, isConditionTrue, isFailed, isFinished } from './job-conditions.ts';
import { isIndexed } from './job-spec.ts';
import { type Check, validateIndexes } from './job-status-indexes.ts';
import { validateCounts } from './status-fields.ts';

const COUNTS = ['active', 'succeeded', 'failed', 'ready', 'terminating'];

export function validateJobStatus(job: ApiObject, old: ApiObject): FieldError[] {
  const field = new Field('status');
  validateCounts(objectAt(job, 'status'), COUNTS, field);
  validateUncounted(job, field);
  const isChanged = (...names: string[]) =>
    names.some((name) => !isSameValue(valueAt(job, 'status', name), valueAt(old, 'status', name)));
  const check = { job, old, field, isChanged };
  validateConditions(check);
  validateTimes(check);
  validateFinished(check);
  validateIndexes(check);
  validateChange(check);
  return field.errors;
}

/** Rejects empty UIDs in `uncountedTerminatedPods`, and pods listed there more than once. */
function validateUncounted(job: ApiObject, field: Field): void {
  const seen = new Set<string>();
  for (const list of ['succeeded', 'failed'])
    for (const [index, uid] of textsAt(job, 'status', 'uncountedTerminatedPods', list).entries()) {
      const at = field.at('uncountedTerminatedPods', list, index);
      if (uid === '') at.invalid(uid, 'must not be empty');
      else if (seen.has(uid)) at.duplicate(uid);
      seen.add(uid);
    }
}

const changes = (check: Check, is: (job: ApiObject) => boolean): boolean => is(check.job) !== is(check.old);

const conditionChanges = (check: Check, type: string): boolean => changes(check, (job) => isConditionTrue(job, type));

function validateConditions(check: Check): void {
  const { job, field } = check;
  const at = field.at('conditions');
  const completes = changes(check, isComplete);
  const isTarget = isConditionTrue(job, 'FailureTarget');
  const isMet = isConditionTrue(job, 'SuccessCriteriaMet');
  if ((completes || changes(check, isFailed)) && isComplete(job) && isFailed(job))
    at.invalidOmitted('cannot set Complete=True and Failed=true conditions');
  if ((completes || conditionChanges(check, 'FailureTarget')) && isComplete(job) && isTarget)
    at.invalidOmitted('cannot set Complete=True and FailureTarget=true conditions');
  if ((changes(check, isFailed) || check.isChanged('failedIndexes')) && isFailed(job) && !isTarget)
    at.invalidOmitted('cannot set Failed=True condition without the FailureTarget=true condition');
  if ((completes || conditionChanges(check, 'SuccessCriteriaMet')) && isComplete(job) && !isMet)
    at.invalidOmitted('cannot set Complete=True condition without the SuccessCriteriaMet=true condition');
  if (isMet && isFailed(job)) at.invalidOmitted('cannot set SuccessCriteriaMet=True and Failed=true conditions');
  if (isMet && isTarget) at.invalidOmitted('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  if (objectAt(job, 'spec', 'successPolicy') !== undefined && !isMet && isComplete(job))
    at.invalidOmitted('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
}

function validateTimes(check: Check): void {
  const { job, field, isChanged } = check;
  const started = textAt(job, 'status', 'startTime');
  const completed = textAt(job, 'status', 'completionTime');
  const at = field.at('completionTime');
  const completes = changes(check, isComplete) || isChanged('completionTime');
  if (completes && completed !== '' && !isComplete(job))
    at.invalid(completed, 'cannot set completionTime when there is no Complete=True condition');
  if (completes && completed === '' && isComplete(job)) at.required('completionTime is required for Complete jobs');
  const isReversed = started !== '' && completed !== '' && Date.parse(completed) < Date.parse(started);
  if (isChanged('startTime', 'completionTime') && isReversed)
    at.invalid(completed, 'must be equal to or after `startTime`');
}

function validateFinished(check: Check): void {
  const { job, field, isChanged } = check;
  const finishes = changes(check, isFinished);
  const active = numberAt(job, 'status', 'active') ?? 0;
  const terminating = numberAt(job, 'status', 'terminating') ?? 0;
  const ready = numberAt(job, 'status', 'ready') ?? 0;
  const needsNoStart = valueAt(job, 'spec', 'suspend') === true && numberAt(job, 'spec', 'completions') === 0;
  if (isFinished(job)) {
    if ((finishes || isChanged('active')) && active > 0)
      field.at('active').invalid(active, 'active>0 is invalid for finished job');
    if ((finishes || isChanged('startTime')) && !needsNoStart && valueAt(job, 'status', 'startTime') === undefined)
      field.at('startTime').required('startTime is required for finished job');
    const uncounted = objectAt(job, 'status', 'uncountedTerminatedPods');
    const count = textsAt(uncounted, 'failed').length + textsAt(uncounted, 'succeeded').length;
    if ((finishes || isChanged('uncountedTerminatedPods')) && count > 0)
      field.at('uncountedTerminatedPods').invalid(uncounted, 'must be empty for finished job');
    if ((finishes || isChanged('terminating')) && terminating > 0)
      field.at('terminating').invalid(terminating, 'terminating>0 is invalid for finished job');
  }
  if (isChanged('ready', 'active') && ready > active)
    field.at('ready').invalid(ready, 'cannot set more ready pods than active');
}

/**
 * Rejects changes to a Job's status that remove a terminal condition, decrease a pod counter, or change a start or completion time that
 * must not change anymore.
 */
function validateChange({ job, old, field, isChanged }: Check): void {
  const at = field.at('conditions');
  for (const type of ['Failed', 'Complete', 'FailureTarget'])
    if (isConditionTrue(old, type) && !isConditionTrue(job, type))
      at.invalidOmitted(`cannot disable the terminal ${type}=True condition`);
  const spec = objectAt(job, 'spec');
  const mayShrink = isIndexed(spec) && isSameValue(spec?.completions, spec?.parallelism);
  for (const name of mayShrink ? ['failed'] : ['failed', 'succeeded']) {
    const count = numberAt(job, 'status', name) ?? 0;
    if (count < (numberAt(old, 'status', name) ?? 0))
      field.at(name).invalid(count, `cannot decrease the ${name} counter`);
  }
  const wasSet = (name: string) => valueAt(old, 'status', name) !== undefined;
  const completed = valueAt(job, 'status', 'completionTime');
  if (completed !== undefined && wasSet('completionTime') && isChanged('completionTime'))
    field.at('completionTime').invalid(completed, 'field is immutable');
  const isResuming = isConditionTrue(old, 'Suspended') && isConditionFalse(job, 'Suspended');
  const isSuspended = valueAt(job, 'spec', 'suspend') === true;
  if (isChanged('startTime') && wasSet('startTime') && !isResuming && !isSuspended)
    field
      .at('startTime')
      .invalid(valueAt(job, 'status', 'startTime'), 'field is immutable for unsuspended job once set');
  const met = 'SuccessCriteriaMet';
  if (isConditionTrue(old, met) && !isConditionTrue(job, met))
    at.invalidOmitted('cannot disable the SuccessCriteriaMet=True condition');
  if (isComplete(old) && !isConditionTrue(old, met) && isConditionTrue(job, met))
    at.invalidOmitted('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
}
