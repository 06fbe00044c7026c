import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { podOptions } from '../pod-spec/pod-options.ts';
import { shownSelector } from '../selectors.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, objectAt, textAt, valueAt, withValue } from '../values.ts';
import { scheduleProblem, zoneProblem } from './cron-schedule.ts';
import { validateJobSpec } from './job-spec.ts';
import { defaultPodConditions, jobSpecWarnings } from './jobs.ts';
import { defaultTemplateAt, nameWarnings, prepareTemplateAt, templateWarnings } from './pod-templates.ts';
import { resetStatus, retainStatus, statusOnly } from './status-fields.ts';
import { validateCount } from './workload-spec.ts';

const JOB_SPEC = ['spec', 'jobTemplate', 'spec'];
const TEMPLATE = [...JOB_SPEC, 'template'];
const CONCURRENCY_POLICIES = ['Allow', 'Forbid', 'Replace'];
/** Maximum length of a CronJob's name: its Job names are 11 characters longer, and pod names are limited to 63 characters. */
const MAX_NAME = 52;
const ZONE_PART = /^[A-Za-z._0-9+-]{1,14}$/;

function applyDefaults(object: ApiObject): ApiObject {
  const defaults = { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 };
  const spec: JsonObject = { ...defaults, ...objectAt(object, 'spec') };
  const complete = { ...object, spec: { ...spec, concurrencyPolicy: textAt(spec, 'concurrencyPolicy') || 'Allow' } };
  const jobSpec = objectAt(complete, ...JOB_SPEC);
  const job = jobSpec === undefined ? complete : withValue(complete, JOB_SPEC, defaultPodConditions(jobSpec));
  return defaultTemplateAt(job, TEMPLATE);
}

function validateSpec(object: ApiObject, field: Field, old?: ApiObject): void {
  const spec = objectAt(object, 'spec') ?? {};
  const schedule = textAt(spec, 'schedule');
  if (schedule === '') field.at('schedule').required();
  else
    validateSchedule(schedule, field.at('schedule'), {
      spec,
      mayHaveZone: textAt(old, 'spec', 'schedule').includes('TZ'),
    });
  validateCount(spec, field, 'startingDeadlineSeconds');
  const zone = valueAt(spec, 'timeZone');
  if (old === undefined || zone !== valueAt(old, 'spec', 'timeZone')) validateZone(zone, field.at('timeZone'));
  field.at('concurrencyPolicy').oneOf(textAt(spec, 'concurrencyPolicy'), CONCURRENCY_POLICIES);
  validateJobTemplate(spec, field.at('jobTemplate', 'spec'), old);
  for (const name of ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit']) validateCount(spec, field, name);
}

/**
 * Validates a CronJob's schedule. `mayHaveZone`: the schedule may specify a time zone (`TZ=…`), because the stored CronJob's schedule
 * already does.
 */
function validateSchedule(
  schedule: string,
  field: Field,
  { spec, mayHaveZone }: { spec: JsonObject; mayHaveZone: boolean },
): void {
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) field.invalid(schedule, problem);
  if (!schedule.includes('TZ')) return;
  if (!mayHaveZone) field.invalid(schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
  else if (valueAt(spec, 'timeZone') !== undefined)
    field.invalid(schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule');
}

function validateZone(zone: unknown, field: Field): void {
  if (typeof zone !== 'string') return;
  if (zone === '') return field.invalid(zone, 'timeZone must be nil or non-empty string');
  const isWrong = (part: string) => part === '.' || part === '..' || part.startsWith('-') || !ZONE_PART.test(part);
  if (zone.split('/').some(isWrong)) return field.invalid(zone, `unknown time zone ${zone}`);
  if (zone.toLowerCase() === 'local')
    field.invalid(zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  const problem = zoneProblem(zone);
  if (problem !== undefined) field.invalid(zone, problem);
}

function validateJobTemplate(spec: JsonObject, field: Field, old?: ApiObject): void {
  const jobSpec = objectAt(spec, 'jobTemplate', 'spec') ?? {};
  validateJobSpec(jobSpec, field, podOptions(objectAt(old, ...TEMPLATE)));
  if (valueAt(jobSpec, 'selector') !== undefined)
    field.at('selector').invalid(shownSelector(jobSpec.selector), '`selector` will be auto-generated');
  if (valueAt(jobSpec, 'manualSelector') === true) field.at('manualSelector').notSupported(true, ['nil', 'false']);
}

function validate(object: ApiObject): FieldError[] {
  const root = new Field();
  validateSpec(object, root.at('spec'));
  const name = object.metadata.name ?? '';
  if (Buffer.byteLength(name) > MAX_NAME)
    root.at('metadata', 'name').invalid(name, `must be no more than ${MAX_NAME} characters`);
  return root.errors;
}

function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const root = new Field();
  validateSpec(object, root.at('spec'), old);
  return root.errors;
}

function warnings(object: ApiObject, old: ApiObject | undefined): string[] {
  // the warning in upstream repeats `spec` in the field path, too
  const words =
    'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';
  const hasZone = old !== undefined && textAt(object, 'spec', 'schedule').includes('TZ');
  return [
    ...nameWarnings(object, old),
    ...jobSpecWarnings(objectAt(object, ...JOB_SPEC), JOB_SPEC.join('.')),
    ...templateWarnings(object, old, TEMPLATE),
    ...(hasZone ? [words] : []),
  ];
}

export const CRON_JOBS: Strategy = {
  applyDefaults,
  prepareForCreate: (object) => resetStatus(prepareTemplateAt(object, undefined, TEMPLATE)),
  prepareForUpdate: (object, old) => retainStatus(prepareTemplateAt(object, old, TEMPLATE), old),
  validate,
  validateUpdate,
  warnings,
  subresources: { status: { prepareForUpdate: statusOnly } },
  hasGeneration: true,
};
