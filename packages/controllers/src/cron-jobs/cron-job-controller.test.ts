import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '@podwright/kube-api';

import { type Fault, SimProcess } from '../framework/sim-process.fixture.ts';
import { Random, SimServer } from '../framework/sim-server.fixture.ts';
import { CRON_JOBS, type CronJob, type CronJobSpec } from '../objects/cron-job.ts';
import { finishedCondition, isFinished, JOBS, type Job } from '../objects/job.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { newCronJob } from './cron-job.fixture.ts';
import { CronJobSync, cronJobController } from './cron-job-controller.ts';

const PLACE = { namespace: 'shop', name: 'report' };

function simulate(seed: number, spec: Partial<CronJobSpec> = {}) {
  const server = new SimServer(seed);
  server.put(CRON_JOBS, newCronJob(spec));
  const process = new SimProcess(server, CRON_JOBS, (parts, again) => {
    const sync = new CronJobSync(parts, again);
    return (key) => sync.sync(key);
  });
  const jobs = () => server.list<Job>(JOBS);
  const end = (job: Job, type: 'Complete' | 'Failed') =>
    server.change<Job>(JOBS, { namespace: 'shop', name: job.metadata.name }, (changed) => {
      const time = formatTime(server.nowMs);
      const condition = { type, status: 'True' as const, lastTransitionTime: time };
      changed.status = { startTime: time, completionTime: time, conditions: [condition] };
    });
  return { server, process, jobs, end };
}

test('a Job has the template, the time in its name, and an annotation in the time zone', async () => {
  const { server, process, jobs } = simulate(1, { timeZone: 'Asia/Kolkata' });
  server.nowMs += 10 * 60_000;
  await process.sync('shop/report');
  const [{ metadata, spec } = {} as Job] = jobs();
  assert.equal(metadata.name, `report-${server.nowMs / 60_000}`);
  assert.deepEqual(metadata.annotations, {
    'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T05:40:00+05:30',
  });
  assert.deepEqual(metadata.labels, { app: 'report' });
  assert.deepEqual(spec, newCronJob().spec.jobTemplate.spec);
  const { status } = server.get<CronJob>(CRON_JOBS, PLACE)!;
  assert.equal(status?.lastScheduleTime, '2026-01-01T00:10:00Z');
  assert.equal(status?.active?.[0]?.uid, metadata.uid);
  assert.deepEqual(
    process.events.map(({ message }) => message),
    [`Created job ${metadata.name}`],
  );
});

test('a Job is replaced by the next one', async () => {
  const { server, process, jobs } = simulate(1, { concurrencyPolicy: 'Replace' });
  for (let round = 0; round < 3; round++) {
    server.nowMs += 10 * 60_000;
    await process.sync('shop/report');
    assert.equal(jobs().length, 1);
    assert.equal(server.get<CronJob>(CRON_JOBS, PLACE)?.status?.active?.length, 1);
  }
});

test('a finished Job above the history limit is reported as deleted, not as finished', async () => {
  const { server, process, jobs, end } = simulate(1, { failedJobsHistoryLimit: 0 });
  server.nowMs += 10 * 60_000;
  await process.sync('shop/report');
  const [job] = jobs();
  end(job!, 'Failed');
  process.deliver(Number.POSITIVE_INFINITY);
  await process.sync('shop/report');
  const messages = process.events.map(({ message }) => message);
  assert.deepEqual(messages, [`Created job ${job!.metadata.name}`, `Deleted job ${job!.metadata.name}`]);
  assert.deepEqual(jobs(), []);
  assert.equal(server.get<CronJob>(CRON_JOBS, PLACE)?.status?.active, undefined);
});

test('a Job that cannot be deleted does not prevent the next one from starting', async () => {
  const { server, process, jobs, end } = simulate(1, { failedJobsHistoryLimit: 0 });
  server.nowMs += 10 * 60_000;
  await process.sync('shop/report');
  end(jobs()[0]!, 'Failed');
  process.deliver(Number.POSITIVE_INFINITY);
  server.nowMs += 10 * 60_000;
  const faults: Fault[] = ['refused'];
  process.nextFault = () => faults.shift() ?? 'none';
  assert.equal(await process.sync('shop/report'), false, 'the deletion is tried again');
  assert.equal(jobs().length, 2);
  process.deliver(Number.POSITIVE_INFINITY);
  assert.equal(await process.sync('shop/report'), true);
  assert.equal(jobs().length, 1);
});

test('each scheduled time has at most one Job, despite failures and process exits', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const policies = ['Allow', 'Forbid', 'Replace'] as const;
    const concurrencyPolicy = random.pick(policies)!;
    const { server, process, jobs, end } = simulate(seed, { concurrencyPolicy, successfulJobsHistoryLimit: 2 });
    const faults: Fault[] = ['refused', 'conflict', 'lost', 'killed'];
    process.nextFault = () => (random.below(5) === 0 ? random.pick(faults)! : 'none');
    const ever = new Set<string>();
    server.onChange = () => {
      const uids = jobs().map(({ metadata: { name, uid } }) => `${name} ${uid}`);
      for (const one of uids) ever.add(one);
      const names = [...ever].map((one) => one.split(' ')[0]);
      assert.equal(new Set(names).size, names.length, `seed ${seed}: a time has two Jobs`);
      const running = jobs().filter((job) => !isFinished(job));
      if (concurrencyPolicy === 'Forbid') assert.ok(running.length <= 1, `seed ${seed}: Jobs run at the same time`);
    };
    for (let step = 0; step < 150; step++) {
      const action = random.below(4);
      if (action === 0) server.nowMs += random.below(400_000);
      else if (action === 1) process.deliver(1 + random.below(3));
      else if (action === 2) {
        const job = random.pick(jobs().filter((one) => !isFinished(one)));
        if (job !== undefined) end(job, 'Complete');
      } else await process.sync('shop/report');
    }
    process.nextFault = () => 'none';
    for (const job of jobs()) if (!isFinished(job)) end(job, 'Complete');
    for (let round = 0; round < 20; round++) {
      process.deliver(Number.POSITIVE_INFINITY);
      await process.sync('shop/report');
      for (const job of jobs()) if (!isFinished(job)) end(job, 'Complete');
    }
    const { status } = server.get<CronJob>(CRON_JOBS, PLACE)!;
    assert.deepEqual(status?.active ?? [], [], `seed ${seed}`);
    assert.equal(jobs().filter((job) => finishedCondition(job)?.type === 'Complete').length, 2, `seed ${seed}`);
  }
});

test('a thousand CronJobs that missed a time create a thousand Jobs, five at a time', async () => {
  await using place = new TestPlace(cronJobController);
  const created = formatTime(Date.now() - 2 * 3_600_000);
  for (let index = 0; index < 1000; index++) {
    const { metadata, ...cronJob } = newCronJob({ schedule: '@hourly' });
    const name = `report-${index}`;
    place.client.put(CRON_JOBS, {
      ...cronJob,
      metadata: { ...metadata, name, uid: `u${index}`, creationTimestamp: created },
    });
  }
  await place.client.waitForCalls({ verb: 'update', plural: 'cronjobs' }, 1000);
  assert.equal(place.client.callsOf({ verb: 'create', plural: 'jobs' }).length, 1000);
});
