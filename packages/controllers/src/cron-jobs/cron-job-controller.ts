import { isDeepStrictEqual } from 'node:util';
import { type EventRecorder, formatTime, type KubeObject } from '@podwright/kube-api';
import { apiMessage, isApiStatus } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache, ObjectChange } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { writeStatus } from '../framework/write-status.ts';
import { CRON_JOBS, type CronJob, type JobReference } from '../objects/cron-job.ts';
import { isFinished, JOBS, type Job } from '../objects/job.ts';
import { controllerOf, controllerReference, isControlledBy, isOfKind } from '../pods/controller-reference.ts';
import { isNamespaceTerminating, subjectOf } from '../pods/pod-writer.ts';
import { type CronJobEvent, decideCronJob, jobName, jobsBeyondHistory } from './decide-cron-job.ts';
import { untilNextMs } from './missed-times.ts';
import { parseSchedule } from './schedule.ts';
import { WallClock } from './wall-clock.ts';

const SCHEDULED_FOR = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** Creates Jobs on the schedules of CronJobs. */
export const cronJobController: Controller = async (parts) => {
  const { objects, logger, signal } = parts;
  const cronJobs = objects.of<CronJob>(CRON_JOBS);
  const jobs = objects.of<Job>(JOBS);
  if (!(await untilSynced(cronJobs, jobs))) return;
  const queue: WorkQueue = new WorkQueue({
    sync: (key) => sync.sync(key),
    failure: 'failed to sync a CronJob',
    logger,
    signal,
  });
  const sync = new CronJobSync(parts, (key, delayMs) => queue.addAfter(key, delayMs));
  cronJobs.onChange((change) => {
    sync.note(change);
    queue.add(placeText(change.object.metadata));
  });
  jobs.onChange(({ object }) => {
    const controller = controllerOf(object);
    if (controller === undefined || !isOfKind(controller, CRON_JOBS)) return;
    queue.add(placeText({ namespace: object.metadata.namespace, name: controller.name }));
  });
  await queue.ended;
};

/**
 * Where a CronJob's schedule begins: schedule times before `ms` are ignored. `lastMs`: the last handled time, which was in the future
 * because the system time had been set back.
 */
type Begin = { ms: number; lastMs?: number };

export class CronJobSync {
  readonly #parts: ControllerParts;
  readonly #again: (key: string, delayMs: number) => void;
  readonly #cronJobs: ObjectCache<CronJob>;
  readonly #jobs: ObjectCache<Job>;
  readonly #events: EventRecorder;
  /** Where the schedule of each CronJob begins, by UID. In memory only. */
  readonly #begins = new Map<string, Begin>();

  /** `again` requests another sync of a CronJob after a delay in milliseconds. */
  constructor(parts: ControllerParts, again: (key: string, delayMs: number) => void) {
    this.#parts = parts;
    this.#again = again;
    this.#cronJobs = parts.objects.of(CRON_JOBS);
    this.#jobs = parts.objects.of(JOBS);
    this.#events = parts.events('cronjob-controller');
  }

  /**
   * Must be called for each change of a CronJob, so that a new schedule only applies to times after the change. Upstream may also start a
   * Job for an earlier time of the new schedule, if the last Job was started before that time.
   */
  note({ type, object, before }: ObjectChange<CronJob>): void {
    const { uid } = object.metadata;
    const scheduleOf = ({ spec: { schedule, timeZone } }: CronJob) => JSON.stringify([schedule, timeZone]);
    if (type === 'DELETED') this.#begins.delete(uid);
    else if (before !== undefined && before.metadata.uid === uid && scheduleOf(before) !== scheduleOf(object))
      this.#begins.set(uid, { ms: this.#parts.now() });
  }

  async sync(key: string): Promise<void> {
    const known = this.#cronJobs.get(placeOfText(key));
    if (known === undefined) return;
    const jobs = this.#jobs.controlledBy(known.metadata.namespace, known.metadata.uid);
    const cronJob = await this.#withKnownJobs(known, jobs);
    const failures: unknown[] = [];
    const cleaned = await this.#withoutOldJobs(cronJob, jobs, failures);
    const missing = await this.#missing(cleaned, jobs);
    const decision = decideCronJob({ cronJob: cleaned, jobs, missing, ...this.#times(cronJob) });
    for (const event of decision.events) this.#record(cronJob, event);
    let { status, againInMs } = decision;
    try {
      for (const job of decision.replaces) {
        await this.#delete(cronJob, job);
        status = { ...status, active: status.active?.filter(({ uid }) => uid !== job.uid) };
      }
      if (decision.startForMs !== undefined) {
        const started = await this.#start(cronJob, decision.startForMs);
        if (started !== undefined) {
          const lastScheduleTime = formatTime(decision.startForMs);
          status = { ...status, active: [...(status.active ?? []), referenceTo(started)], lastScheduleTime };
        }
        againInMs = this.#untilNextMs({ ...cronJob, status });
      }
    } finally {
      await this.#write(cronJob, status);
    }
    if (againInMs !== undefined) this.#again(key, againInMs);
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Returns the CronJob, reread from the server if its status lacks one of its unfinished Jobs: the cached CronJob might then be older than
   * the Job cache.
   */
  async #withKnownJobs(cronJob: CronJob, jobs: readonly Job[]): Promise<CronJob> {
    const active = new Set(cronJob.status?.active?.map(({ uid }) => uid));
    if (jobs.every((job) => isFinished(job) || active.has(job.metadata.uid))) return cronJob;
    const { namespace, name, uid } = cronJob.metadata;
    const fresh = await this.#parts.client.get<CronJob>(CRON_JOBS, { namespace, name }, { signal: this.#parts.signal });
    return fresh.metadata.uid === uid ? fresh : cronJob;
  }

  /**
   * Deletes finished Jobs beyond the history limits. Returns the CronJob without them in its list of active Jobs. Adds errors to
   * `failures`: a Job that cannot be deleted does not prevent new ones.
   */
  async #withoutOldJobs(cronJob: CronJob, jobs: readonly Job[], failures: unknown[]): Promise<CronJob> {
    const deleted = new Set<string>();
    for (const { metadata } of jobsBeyondHistory(cronJob, jobs)) {
      const isDeleted = this.#delete(cronJob, metadata).catch((error: unknown) => void failures.push(error));
      if (await isDeleted) deleted.add(metadata.uid);
    }
    const active = cronJob.status?.active?.filter(({ uid }) => !deleted.has(uid));
    return active === undefined ? cronJob : { ...cronJob, status: { ...cronJob.status, active } };
  }

  /** Returns the UIDs of active Jobs that do not exist on the server. */
  async #missing(cronJob: CronJob, jobs: readonly Job[]): Promise<Set<string>> {
    const known = new Set(jobs.map(({ metadata: { uid } }) => uid));
    const missing = new Set<string>();
    for (const { uid, name } of cronJob.status?.active ?? []) {
      if (known.has(uid)) continue;
      const job = await this.#read(cronJob, name);
      if (job?.metadata.uid !== uid) missing.add(uid);
    }
    return missing;
  }

  async #read({ metadata: { namespace } }: CronJob, name: string): Promise<Job | undefined> {
    const { client, signal } = this.#parts;
    return client.get<Job>(JOBS, { namespace, name }, { signal }).catch((error: unknown) => {
      if (isApiStatus(error, 404)) return undefined;
      throw error;
    });
  }

  /**
   * Creates the Job for a scheduled time. Returns it even if an earlier sync created it, or nothing if the existing Job of that name does
   * not belong to the CronJob.
   */
  async #start(cronJob: CronJob, startForMs: number): Promise<Job | undefined> {
    const { client, signal } = this.#parts;
    try {
      const job = await client.create<Job>(JOBS, newJob(cronJob, startForMs), { signal });
      this.#jobs.written(job);
      this.#record(cronJob, ['Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`]);
      return job;
    } catch (error) {
      if (isApiStatus(error, 'AlreadyExists')) return this.#known(cronJob, jobName(cronJob, startForMs));
      if (!isNamespaceTerminating(error))
        this.#record(cronJob, ['Warning', 'FailedCreate', `Error creating job: ${apiMessage(error)}`]);
      throw error;
    }
  }

  async #known(cronJob: CronJob, name: string): Promise<Job | undefined> {
    const job = await this.#read(cronJob, name);
    return job !== undefined && isControlledBy(job, CRON_JOBS, cronJob) ? job : undefined;
  }

  /** Deletes a Job. Returns false if it no longer exists. */
  async #delete(cronJob: CronJob, { name, uid }: { name: string; uid: string }): Promise<boolean> {
    const { client, signal } = this.#parts;
    const place = { namespace: cronJob.metadata.namespace, name };
    const how = { propagationPolicy: 'Background' as const, preconditions: { uid } };
    try {
      await client.delete(JOBS, place, how, { signal });
    } catch (error) {
      if (isApiStatus(error, 404) || isApiStatus(error, 409)) return false;
      this.#record(cronJob, ['Warning', 'FailedDelete', `Deleted job: ${apiMessage(error)}`]);
      throw error;
    }
    this.#jobs.deleting(place, uid);
    this.#record(cronJob, ['Normal', 'SuccessfulDelete', `Deleted job ${name}`]);
    return true;
  }

  #untilNextMs(cronJob: CronJob): number | undefined {
    const { schedule, timeZone } = cronJob.spec;
    return untilNextMs(cronJob, parseSchedule(schedule, timeZone), this.#times(cronJob));
  }

  /**
   * Returns the current time, and the time before which schedule times are ignored. If the last handled time is in the future, the system
   * time was set back, so only schedule times from now on count.
   */
  #times({ metadata: { uid, creationTimestamp }, status }: CronJob): { nowMs: number; beginMs: number } {
    const nowMs = this.#parts.now();
    const lastMs = Date.parse(status?.lastScheduleTime ?? creationTimestamp ?? '');
    const known = this.#begins.get(uid);
    const isSetBack = lastMs > nowMs && known?.lastMs !== lastMs;
    if (isSetBack || (known !== undefined && known.ms > nowMs)) this.#begins.set(uid, { ms: nowMs, lastMs });
    return { nowMs, beginMs: this.#begins.get(uid)?.ms ?? 0 };
  }

  async #write(cronJob: CronJob, status: NonNullable<CronJob['status']>): Promise<void> {
    const { active = [], ...rest } = status;
    const written = active.length === 0 ? rest : { ...rest, active };
    if (isDeepStrictEqual(cronJob.status ?? {}, written)) return;
    await writeStatus<CronJob>(this.#parts, CRON_JOBS, { ...cronJob, status: written });
  }

  #record(cronJob: CronJob, [type, reason, message]: CronJobEvent): void {
    this.#events.event(subjectOf(CRON_JOBS, cronJob), type, reason, message);
  }
}

/** Builds the Job for a scheduled time (getJobFromTemplate2). */
function newJob(cronJob: CronJob, startForMs: number): KubeObject {
  const { jobTemplate, timeZone = 'UTC' } = cronJob.spec;
  const { labels, annotations } = jobTemplate.metadata ?? {};
  const metadata = {
    namespace: cronJob.metadata.namespace,
    name: jobName(cronJob, startForMs),
    ...(labels === undefined ? {} : { labels: { ...labels } }),
    annotations: { ...annotations, [SCHEDULED_FOR]: new WallClock(timeZone).format(startForMs) },
    ownerReferences: [controllerReference(CRON_JOBS, cronJob)],
  };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: structuredClone(jobTemplate.spec) };
  return job;
}

function referenceTo({ metadata: { namespace, name, uid, resourceVersion } }: Job): JobReference {
  return { kind: 'Job', namespace, name, uid, apiVersion: 'batch/v1', resourceVersion };
}
