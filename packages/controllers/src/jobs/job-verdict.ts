import type { Job, JobCondition } from '../objects/job.ts';
import { completionsOf, isFailed, isIndexed, isSuspended, type JobFacts } from './job-facts.ts';
import { matchPodFailurePolicy } from './pod-failure-policy.ts';
import { metSuccessRule } from './success-policy.ts';

/** Why a Job ends. Its condition is first `FailureTarget` or `SuccessCriteriaMet`, then `Failed` or `Complete`. */
export type Verdict = { succeeds: boolean; reason: string; message: string };

const fails = (reason: string, message: string): Verdict => ({ succeeds: false, reason, message });

/**
 * Returns why the Job ends early, in which case its active pods are deleted. Returns nothing if it continues or has reached its
 * completions.
 */
export function verdictOf(facts: JobFacts): Verdict | undefined {
  return earlierVerdict(facts.job) ?? policyFailure(facts) ?? limitFailure(facts) ?? indexVerdict(facts);
}

/** Returns the verdict for a Job that has reached its completions; `active` is the number of its active pods. */
export function completionVerdict({ job, succeeded }: JobFacts, active: number): Verdict | undefined {
  const { completions } = job.spec;
  const isReached = completions === undefined ? succeeded > 0 : succeeded >= completions;
  if (active > 0 || !isReached) return undefined;
  return { succeeds: true, reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
}

/** Returns the verdict that an earlier sync has recorded as a condition of the Job. */
function earlierVerdict({ status }: Job): Verdict | undefined {
  const of = (type: string) => status?.conditions?.find((one) => one.type === type && one.status === 'True');
  const verdict = (succeeds: boolean, { reason = '', message = '' }: JobCondition) => ({ succeeds, reason, message });
  const met = of('SuccessCriteriaMet');
  if (met !== undefined) return verdict(true, met);
  const target = of('FailureTarget');
  return target === undefined ? undefined : verdict(false, target);
}

function policyFailure({ job, pods }: JobFacts): Verdict | undefined {
  const { podFailurePolicy } = job.spec;
  if (podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    if (!isFailed(job, pod)) continue;
    const { jobFailure } = matchPodFailurePolicy(podFailurePolicy, pod);
    if (jobFailure !== undefined) return fails('PodFailurePolicy', jobFailure);
  }
  return undefined;
}

function limitFailure(facts: JobFacts): Verdict | undefined {
  const limit = facts.job.spec.backoffLimit ?? Number.POSITIVE_INFINITY;
  if (facts.failed > limit || isPastRestarts(facts, limit))
    return fails('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  if (untilDeadlineMs(facts) === 0) return fails('DeadlineExceeded', 'Job was active longer than specified deadline');
  return undefined;
}

/**
 * Whether the containers of the Job's pending and running pods have restarted `limit` times in total (for 0: at least once). Applies only
 * to the restart policy OnFailure.
 */
function isPastRestarts({ job, pods }: JobFacts, limit: number): boolean {
  if (job.spec.template.spec.restartPolicy !== 'OnFailure') return false;
  const running = pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending');
  const restarts = running
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Returns the time until the Job's deadline in milliseconds, or nothing if it has none or is suspended. */
export function untilDeadlineMs({ job, nowMs }: JobFacts): number | undefined {
  const { activeDeadlineSeconds } = job.spec;
  const startTime = job.status?.startTime;
  if (activeDeadlineSeconds === undefined || isSuspended(job)) return undefined;
  const startMs = startTime === undefined ? nowMs : Date.parse(startTime);
  return Math.max(0, startMs + activeDeadlineSeconds * 1000 - nowMs);
}

function indexVerdict({ job, succeededIndexes, failedIndexes }: JobFacts): Verdict | undefined {
  if (!isIndexed(job)) return undefined;
  const { maxFailedIndexes, successPolicy } = job.spec;
  const failed = failedIndexes?.size ?? 0;
  if (maxFailedIndexes !== undefined && failed > maxFailedIndexes)
    return fails('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  if (failed > 0 && failed + succeededIndexes.size >= completionsOf(job))
    return fails('FailedIndexes', 'Job has failed indexes');
  const rule = metSuccessRule(successPolicy?.rules ?? [], succeededIndexes, completionsOf(job));
  if (rule === undefined) return undefined;
  return { succeeds: true, reason: 'SuccessPolicy', message: `Matched rules at index ${rule}` };
}
