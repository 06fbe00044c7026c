import { isDeepStrictEqual } from 'node:util';
import { type EventRecorder, matchesLabelSelector, type Pod } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import { everyCall, failureOf } from '../framework/calls.ts';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { writeStatus } from '../framework/write-status.ts';
import { isFinished, isManagedByOther, JOBS, type Job, type JobStatus } from '../objects/job.ts';
import { claimObjects } from '../pods/claim-objects.ts';
import { isActive, isTerminating } from '../pods/pod-state.ts';
import { inGrowingBatches, isNamespaceTerminating, PodWriter, subjectOf } from '../pods/pod-writer.ts';
import { wakeOwners } from '../pods/wake-owners.ts';
import { decidePods } from './decide-pods.ts';
import type { JobBackoff } from './job-backoff.ts';
import { type JobFacts, jobFacts } from './job-facts.ts';
import { hasTrackingFinalizer, TRACKING_FINALIZER } from './job-pod.ts';
import { countReleased, finishedStatus, type Tracking, trackPods } from './job-status.ts';
import { completionVerdict, untilDeadlineMs, type Verdict, verdictOf } from './job-verdict.ts';
import { isOrphan, releaseOrphan, removeFinalizer } from './orphan-pods.ts';

/** How long changes to a Job's pods are batched before the Job is synced, in milliseconds. Upstream waits one second. */
const BATCH_MS = 25;
/**
 * Delay before the first retry, in milliseconds, doubled up to `MAX_RETRY_MS` (DefaultJobApiBackOff, MaxJobApiBackOff). It is long because
 * each retry of a Job whose pods are rejected records another event.
 */
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** Runs the pods of Jobs to completion. */
export const jobController: Controller = (parts) => {
  const queue = new WorkQueue({
    sync: (key) => jobs.sync(key),
    failure: 'failed to sync a Job',
    firstRetryMs: FIRST_RETRY_MS,
    maxRetryMs: MAX_RETRY_MS,
    logger: parts.logger,
    signal: parts.signal,
  });
  const jobs = new JobSync(parts, (key, delayMs) => queue.addAfter(key, delayMs));
  return runJobs(parts, queue);
};

/** Queues Jobs when they or their pods change, and removes the finalizer from pods that belong to no Job. */
async function runJobs({ client, objects, logger, signal }: ControllerParts, queue: WorkQueue): Promise<void> {
  const jobs = objects.of<Job>(JOBS);
  const pods = objects.of<Pod>(PODS);
  if (!(await untilSynced(jobs, pods))) return;
  const orphans = new WorkQueue({
    sync: (key) => releaseOrphan({ client, objects, signal }, placeOfText(key)),
    failure: 'failed to remove the finalizer of a pod without a Job',
    logger,
    signal,
  });
  const wake = (key: string) => queue.addAfter(key, BATCH_MS);
  wakeOwners({ ownedBy: JOBS, owners: jobs, owned: pods, selectorOf: ({ spec }: Job) => spec.selector, wake });
  const examine = (pod: Pod) => {
    if (isOrphan(pod, jobs)) orphans.add(placeText(pod.metadata));
  };
  pods.onChange(({ type, object }) => {
    if (type !== 'DELETED') examine(object);
  });
  jobs.onChange(({ type, object, before }) => {
    const { name, namespace, uid, generation } = object.metadata;
    if (before?.metadata.generation !== generation) queue.add(placeText({ namespace, name }));
    if (type === 'DELETED' || isFinished(object)) pods.controlledBy(namespace, uid).forEach(examine);
  });
  await Promise.all([queue.ended, orphans.ended]);
}

/** Reconciles one Job at a time. */
export class JobSync {
  readonly #parts: ControllerParts;
  readonly #again: (key: string, delayMs: number) => void;
  readonly #jobs: ObjectCache<Job>;
  readonly #pods: ObjectCache<Pod>;
  readonly #events: EventRecorder;
  readonly #writer: PodWriter;
  readonly #backoffs = new Map<string, JobBackoff>();

  /** `again` requests another sync of a Job after a delay in milliseconds. */
  constructor(parts: ControllerParts, again: (key: string, delayMs: number) => void) {
    this.#parts = parts;
    this.#again = again;
    this.#jobs = parts.objects.of(JOBS);
    this.#pods = parts.objects.of(PODS);
    this.#events = parts.events('job-controller');
    this.#writer = new PodWriter({ ...parts, events: this.#events, ownedBy: JOBS });
  }

  async sync(key: string): Promise<void> {
    const job = this.#jobs.get(placeOfText(key));
    if (job === undefined || isManagedByOther(job) || isFinished(job)) {
      this.#backoffs.delete(key);
      return;
    }
    const pods = await this.#claim(job);
    const facts = jobFacts({ job, pods, backoff: this.#backoffs.get(key), nowMs: this.#parts.now() });
    const deadlineMs = untilDeadlineMs(facts);
    if (deadlineMs !== undefined && deadlineMs > 0) this.#again(key, deadlineMs);
    const verdict = verdictOf(facts);
    const isManaged = verdict === undefined && job.metadata.deletionTimestamp === undefined;
    const decided = verdict === undefined ? facts : await this.#announce(facts, verdict);
    const failure = await failureOf(verdict === undefined ? this.#manage(key, facts, isManaged) : this.#end(decided));
    await this.#report(key, decided, { verdict, isManaged });
    if (failure !== undefined) throw failure.error;
  }

  #claim(owner: Job): Promise<Pod[]> {
    const { client, objects, signal } = this.#parts;
    const { namespace, uid } = owner.metadata;
    return claimObjects<Pod>(
      { client, objects, signal, ownedBy: JOBS, resource: PODS, finalizers: [TRACKING_FINALIZER] },
      { owner, selector: owner.spec.selector, objects: this.#pods.claimable(namespace, uid) },
    );
  }

  /**
   * Records why the Job ends, before its active pods are deleted. If this write failed only after their deletion, the next sync could count
   * the deleted pods as failures of a Job that succeeds.
   */
  async #announce(facts: JobFacts, verdict: Verdict): Promise<JobFacts> {
    const { job, active } = facts;
    if (active.length === 0) return facts;
    const terminating = facts.terminating.length;
    const { status } = trackPods({ facts, active, terminating, verdict, isManaged: false });
    return { ...facts, job: await this.#write(job, status) };
  }

  /** Deletes the pods of a Job with a verdict. They count as failed unless the Job succeeds. */
  async #end({ job, active }: JobFacts): Promise<void> {
    await everyCall(active, (pod) => this.#writer.delete(job, pod));
  }

  async #manage(key: string, facts: JobFacts, isManaged: boolean): Promise<void> {
    if (!isManaged) return;
    const { job } = facts;
    const decision = decidePods(facts);
    if (decision.againInMs !== undefined) this.#again(key, Math.max(decision.againInMs, BATCH_MS));
    await everyCall(decision.delete, async (pod) => {
      if (decision.forgets) await this.#release(pod);
      await this.#writer.delete(job, pod);
    });
    const { create } = decision;
    const { error } = await inGrowingBatches(create.length, (index) => this.#writer.create(job, create[index]!));
    if (error !== undefined && !isNamespaceTerminating(error)) throw error;
  }

  /**
   * Writes the Job's status with its terminated pods listed as uncounted, removes their finalizers, and writes the status again with these
   * pods counted.
   */
  async #report(
    key: string,
    facts: JobFacts,
    { verdict: ends, isManaged }: { verdict: Verdict | undefined; isManaged: boolean },
  ): Promise<void> {
    const { job, nowMs } = facts;
    const own = this.#pods
      .controlledBy(job.metadata.namespace, job.metadata.uid)
      .filter(({ metadata }) => matchesLabelSelector(job.spec.selector, metadata.labels));
    const active = own.filter(isActive);
    const terminating = own.filter(isTerminating).length;
    const isDeleting = job.metadata.deletionTimestamp !== undefined;
    const verdict = active.length > 0 ? undefined : (ends ?? completionVerdict(facts, active.length));
    const tracking = trackPods({ facts, active, terminating, verdict, isManaged: isManaged && verdict === undefined });
    const stored = await this.#write(job, tracking.status);
    this.#backoffs.set(key, facts.backoff);
    if (tracking.event !== undefined)
      this.#events.event(subjectOf(JOBS, job), 'Normal', tracking.event, `Job ${tracking.event.toLowerCase()}`);
    const failure = await failureOf(everyCall(tracking.release, (pod) => this.#release(pod)));
    await this.#count(stored, tracking, { verdict: failure === undefined ? verdict : undefined, nowMs });
    if (failure !== undefined) throw failure.error;
    if (tracking.hasMore && !isDeleting) this.#again(key, BATCH_MS);
  }

  /**
   * Adds the pods whose finalizers have been removed to the counts in the Job's status, and finishes the Job if no pods are left to count.
   */
  async #count(
    job: Job,
    { hasMore }: Tracking,
    { verdict, nowMs }: { verdict: Verdict | undefined; nowMs: number },
  ): Promise<void> {
    const left = this.#pods.controlledBy(job.metadata.namespace, job.metadata.uid).filter(hasTrackingFinalizer);
    const counted = countReleased(job.status ?? {}, new Set(left.map(({ metadata: { uid } }) => uid)));
    const finished = verdict === undefined || hasMore ? undefined : finishedStatus(counted, verdict, nowMs);
    await this.#write(job, finished ?? counted);
    if (finished !== undefined) this.#recordEnd(job, counted, verdict!);
  }

  async #write(job: Job, status: JobStatus): Promise<Job> {
    if (isDeepStrictEqual(job.status ?? {}, status)) return job;
    return writeStatus<Job>(this.#parts, JOBS, { ...job, status });
  }

  #recordEnd(job: Job, { succeeded = 0 }: JobStatus, { succeeds, reason, message }: Verdict): void {
    const subject = subjectOf(JOBS, job);
    if (!succeeds) return this.#events.event(subject, 'Warning', reason, message);
    const { completions } = job.spec;
    const tooMany = 'Too many succeeded pods running after completion count reached';
    if (completions !== undefined && succeeded > completions)
      this.#events.event(subject, 'Warning', 'TooManySucceededPods', tooMany);
    this.#events.event(subject, 'Normal', 'Completed', 'Job completed');
  }

  #release(pod: Pod): Promise<void> {
    return removeFinalizer(this.#parts, pod);
  }
}
