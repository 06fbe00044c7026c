import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../api-port.ts';
import { targetOf } from '../fake-api.fixture.ts';
import type { Workload } from '../workload.ts';
import { autoscalerOf } from './autoscaler.ts';
import { jobOfCronJob, jobOfImage } from './job.ts';
import { type ExposeOptions, serviceOf } from './service-of.ts';

const container = (ports: object[]) => ({ name: 'main', image: 'i', ports });
const deployment = (ports: object[], selector: object = { matchLabels: { app: 'web' } }): ApiObject => ({
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'd', labels: { team: 'a' } },
  spec: { selector, template: { spec: { containers: [container(ports)] } } },
});

test('a Service gets the object’s ports, labels and selector, unless others are given', () => {
  const check = (object: ApiObject, options: ExposeOptions, expected: object) =>
    assert.deepEqual(serviceOf(object, options).spec, expected);
  const ports = [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }];
  const selector = { app: 'web' };
  check(
    deployment(ports),
    {},
    {
      ports: [
        { name: 'port-1', port: 80, protocol: 'TCP', targetPort: 80 },
        { name: 'port-2', port: 53, protocol: 'UDP', targetPort: 53 },
      ],
      selector,
    },
  );
  check(
    deployment(ports),
    { ports: [53], targetPort: 'dns', type: 'NodePort' },
    {
      ports: [{ port: 53, protocol: 'UDP', targetPort: 'dns' }],
      selector,
      type: 'NodePort',
    },
  );
  check(
    { kind: 'Pod', metadata: { name: 'p', labels: { a: 'b' } }, spec: { containers: [container([])] } },
    { ports: [1] },
    {
      ports: [{ port: 1, protocol: 'TCP', targetPort: 1 }],
      selector: { a: 'b' },
    },
  );
  assert.deepEqual(serviceOf(deployment(ports), { name: 'x', labels: { l: 'm' } }).metadata, {
    name: 'x',
    namespace: 'd',
    labels: { l: 'm' },
  });
  assert.throws(() => serviceOf(deployment([]), {}), {
    message: /couldn't find port via --port flag or introspection$/,
  });
  assert.throws(() => serviceOf(deployment(ports, { matchExpressions: [{}] }), {}), {
    message: /give one with --selector$/,
  });
  assert.throws(() => serviceOf({ kind: 'Job', metadata: { name: 'x' } }, {}), {
    message: 'expose: cannot expose a Job',
  });
});

test('a CronJob’s Job gets its template, and is owned by it', () => {
  const cronJob = {
    metadata: { name: 'nightly', namespace: 'd', uid: 'u' },
    spec: { jobTemplate: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { completions: 2 } } },
  } as Workload;
  assert.deepEqual(jobOfCronJob('now', cronJob), {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'now',
      namespace: 'd',
      labels: { a: 'b' },
      annotations: { 'cronjob.kubernetes.io/instantiate': 'manual', c: 'd' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', uid: 'u', controller: true }],
    },
    spec: { completions: 2 },
  });
  const { spec } = jobOfImage('j', { namespace: 'd', image: 'i', command: ['a'] });
  assert.deepEqual(spec, {
    template: { spec: { containers: [{ name: 'j', image: 'i', command: ['a'] }], restartPolicy: 'Never' } },
  });
});

test('an autoscaler’s metrics are percentages or amounts', () => {
  const { spec } = autoscalerOf(targetOf('Deployment', {}), { max: 5, min: 2, cpu: '80%', memory: '1Gi' });
  assert.deepEqual(spec, {
    maxReplicas: 5,
    minReplicas: 2,
    metrics: [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    ],
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
  });
  assert.throws(() => autoscalerOf(targetOf('Deployment', {}), { max: 1, min: 2 }), { code: 'invalid_argument' });
});
