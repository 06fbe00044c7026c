import { humanDuration, isConditionTrue, type KubeObject } from '@podwright/kube-api';
import {
  AGE,
  age,
  boolean,
  type Column,
  integer,
  isDeleted,
  type KindTables,
  kindTable,
  NAME,
  NONE,
  text,
  UNSET,
  wide,
} from './column.ts';
import { containerColumns, type PodTemplate } from './pods.ts';
import { type LabelSelector, selectorText } from './selector-text.ts';

type JobSpec = { completions?: number; parallelism?: number; template?: PodTemplate; selector?: LabelSelector };

type Job = KubeObject & {
  spec: JobSpec;
  status?: {
    succeeded?: number;
    startTime?: string;
    completionTime?: string;
    conditions?: { type: string; status: string }[];
  };
};

const JOB: Column<Job>[] = [
  NAME,
  text('Status', 'State of the job', stateOf),
  text('Completions', 'Pods that succeeded of those that should', completionsOf),
  text('Duration', 'Time that the job has taken', ({ status: { startTime, completionTime } = {} }, nowMs) => {
    if (!startTime) return '';
    return humanDuration((completionTime ? Date.parse(completionTime) : nowMs) - Date.parse(startTime));
  }),
  AGE,
  ...containerColumns<Job>(({ spec }) => spec.template).map(wide),
  wide(text('Selector', 'Labels by which its pods are selected', ({ spec }) => selectorText(spec.selector))),
];

function stateOf({ metadata, status }: Job): string {
  const is = (type: string) => isConditionTrue(status?.conditions, type);
  if (is('Complete')) return 'Complete';
  if (is('Failed')) return 'Failed';
  if (isDeleted(metadata)) return 'Terminating';
  if (is('Suspended')) return 'Suspended';
  return ['FailureTarget', 'SuccessCriteriaMet'].find(is) ?? 'Running';
}

/** Returns the cell for completions, such as `1/3`. A job without `completions` is complete once one of its pods has succeeded. */
function completionsOf({ spec: { completions, parallelism = 0 }, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (typeof completions === 'number') return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

type CronJob = KubeObject & {
  spec: { schedule?: string; timeZone?: string; suspend?: boolean; jobTemplate?: { spec?: JobSpec } };
  status?: { active?: unknown[]; lastScheduleTime?: string };
};

const CRON_JOB: Column<CronJob>[] = [
  NAME,
  text('Schedule', 'When jobs start, in the syntax of cron', ({ spec }) => spec.schedule ?? ''),
  text('Timezone', 'Time zone of the schedule', ({ spec }) => spec.timeZone ?? NONE),
  boolean('Suspend', 'Whether no further jobs start', ({ spec: { suspend } }) => {
    if (typeof suspend !== 'boolean') return UNSET;
    return suspend ? 'True' : 'False';
  }),
  integer('Active', 'Jobs that run', ({ status }) => status?.active?.length ?? 0),
  text('Last Schedule', 'Time since the last start of a job', ({ status }, nowMs) =>
    status?.lastScheduleTime ? age(status.lastScheduleTime, nowMs) : NONE,
  ),
  AGE,
  ...containerColumns<CronJob>(({ spec }) => spec.jobTemplate?.spec?.template).map(wide),
  wide(
    text('Selector', "Labels by which a job's pods are selected", ({ spec }) =>
      selectorText(spec.jobTemplate?.spec?.selector),
    ),
  ),
];

export const JOBS: KindTables = { 'Job.batch': kindTable(JOB), 'CronJob.batch': kindTable(CRON_JOB) };
