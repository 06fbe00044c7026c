/** Jobs, CronJobs, StatefulSets and DaemonSets on the real API server, with its garbage collector. The pods are not real. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { PERSISTENT_VOLUME_CLAIMS } from '@podwright/kube-client';
import {
  ControlledCluster,
  CRON_JOBS,
  DAEMON_SETS,
  JOBS,
  jobTemplate,
  REVISIONS,
  STATEFUL_SETS,
  template,
} from './controlled-cluster.fixture.ts';
import { addNode } from './scripted-kubelet.fixture.ts';

let cluster: ControlledCluster;

suite('controllers of batch and sets', () => {
  before(async () => {
    cluster = await ControlledCluster.start();
  });
  after(() => cluster.stop());

  test('an Indexed Job ends with its failed index', async () => {
    const spec = { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimitPerIndex: 0 };
    await cluster.create(JOBS, 'indexed', { ...spec, template: jobTemplate('indexed', '0,1,0') });
    const { status } = await cluster.untilCondition('indexed', 'Failed');
    const { succeeded, failed, completedIndexes, failedIndexes, uncountedTerminatedPods } = status!;
    assert.deepEqual([succeeded, failed, completedIndexes, failedIndexes], [2, 1, '0,2', '1']);
    assert.deepEqual(uncountedTerminatedPods, {});
    const pods = await cluster.pods('job-name=indexed');
    assert.ok(pods.every(({ metadata }) => metadata.finalizers === undefined && /^indexed-[012]-/.test(metadata.name)));
  });

  test('a Job is suspended and resumed, and removed with its pods after its TTL', async () => {
    const running = { suspend: true, ttlSecondsAfterFinished: 1, template: jobTemplate('paused', '0') };
    await cluster.create(JOBS, 'paused', running);
    await cluster.untilCondition('paused', 'Suspended');
    await cluster.patch(JOBS, 'paused', { suspend: false });
    await cluster.until(async () => {
      const jobs = await cluster.list(JOBS);
      return jobs.some(({ metadata }) => metadata.name === 'paused') ? undefined : true;
    });
    await cluster.until(async () => ((await cluster.pods('app=paused')).length === 0 ? true : undefined));
  });

  test('200 simultaneous Jobs run once each, even if controllers are replaced meanwhile', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `many-${index}`);
    await Promise.all(names.map((name) => cluster.create(JOBS, name, { template: jobTemplate('many', '0') })));
    for (const share of [50, 100, 150]) {
      await cluster.until(async () => ((await cluster.pods('app=many')).length >= share ? true : undefined));
      await cluster.stopControllers();
      cluster.startControllers();
    }
    for (const name of names) await cluster.untilCondition(name, 'Complete');
    assert.equal((await cluster.pods('app=many')).length, 200);
  });

  test('a CronJob starts a Job for a missed schedule time', async () => {
    const spec = { schedule: '@every 1s', concurrencyPolicy: 'Forbid', successfulJobsHistoryLimit: 1 };
    await cluster.create(CRON_JOBS, 'often', {
      ...spec,
      jobTemplate: { spec: { template: jobTemplate('often', '0') } },
    });
    const { status } = await cluster.until(async () => {
      const cronJob = await cluster.client.get<{ metadata: object; status?: { lastSuccessfulTime?: string } }>(
        CRON_JOBS,
        cluster.place('often'),
      );
      return cronJob.status?.lastSuccessfulTime === undefined ? undefined : cronJob;
    });
    assert.ok(Date.parse(status!.lastSuccessfulTime!) <= Date.now());
    await cluster.client.delete(CRON_JOBS, cluster.place('often'), { propagationPolicy: 'Background' });
    await cluster.until(async () => ((await cluster.pods('app=often')).length === 0 ? true : undefined));
  });

  test('a StatefulSet is updated in order, and deletes claims it no longer needs', async () => {
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await cluster.create(STATEFUL_SETS, 'db', {
      replicas: 2,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: template('db', 'run'),
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
    });
    await cluster.untilStatus(STATEFUL_SETS, 'db', { availableReplicas: 2, observedGeneration: 1 });
    await cluster.patch(STATEFUL_SETS, 'db', { template: template('db', 'run', 'v2') });
    await cluster.untilStatus(STATEFUL_SETS, 'db', { availableReplicas: 2, updatedReplicas: 2, observedGeneration: 2 });
    const pods = await cluster.pods('app=db');
    assert.deepEqual(pods.map(({ metadata, spec }) => [metadata.name, spec.containers[0]!.image]).sort(), [
      ['db-0', 'v2'],
      ['db-1', 'v2'],
    ]);
    assert.equal((await cluster.list(REVISIONS, 'app=db')).length, 2);
    await cluster.patch(STATEFUL_SETS, 'db', { replicas: 1 });
    await cluster.until(async () => ((await cluster.list(PERSISTENT_VOLUME_CLAIMS)).length === 1 ? true : undefined));
    await cluster.client.delete(STATEFUL_SETS, cluster.place('db'), { propagationPolicy: 'Foreground' });
    await cluster.until(async () => ((await cluster.list(STATEFUL_SETS)).length === 0 ? true : undefined));
    assert.equal((await cluster.pods('app=db')).length, 0);
  });

  test('a DaemonSet runs on new nodes and is updated', async () => {
    await cluster.create(DAEMON_SETS, 'agent', {
      selector: { matchLabels: { app: 'agent' } },
      template: template('agent', 'run'),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    await cluster.untilStatus(DAEMON_SETS, 'agent', { desiredNumberScheduled: 1, numberAvailable: 1 });
    await addNode(cluster.client, 'n2');
    await cluster.untilStatus(DAEMON_SETS, 'agent', { desiredNumberScheduled: 2, numberAvailable: 2 });
    await cluster.patch(DAEMON_SETS, 'agent', { template: template('agent', 'run', 'v2') });
    await cluster.untilStatus(DAEMON_SETS, 'agent', {
      updatedNumberScheduled: 2,
      numberAvailable: 2,
      observedGeneration: 2,
    });
    const pods = await cluster.until(async () => {
      const all = await cluster.pods('app=agent');
      return all.length === 2 ? all : undefined;
    });
    assert.deepEqual(pods.map(({ spec }) => [spec.nodeName, spec.containers[0]!.image]).sort(), [
      ['n1', 'v2'],
      ['n2', 'v2'],
    ]);
  });
});
