import { test } from 'node:test';
import { checkRow } from './row-checks.fixture.ts';

test('config maps and secrets show their number of keys', () => {
  checkRow('ConfigMap', { data: { a: '1' }, binaryData: { b: 'Mg==', c: 'Mg==' } }, { Data: 3 });
  checkRow('ConfigMap', {}, { Data: 0 });
  checkRow(
    'Secret',
    { type: 'kubernetes.io/tls', data: { a: 'MQ==', b: 'Mg==' } },
    { Type: 'kubernetes.io/tls', Data: 2 },
  );
  checkRow('Secret', {}, { Type: '', Data: 0 });
});

test('namespaces show their phase', () => {
  checkRow('Namespace', { status: { phase: 'Active' } }, { Status: 'Active' });
  checkRow('Namespace', {}, { Status: '' });
});

test('quotas show used and allowed amounts, with limits in a separate column', () => {
  const hard = {
    pods: '10',
    cpu: '100',
    memory: '4096Mi',
    'limits.memory': '8Gi',
    'limits.cpu': '200',
    limits: '1',
    'limits.a': '1',
  };
  const used = { cpu: '1', memory: '1Gi', 'limits.cpu': '0.5' };
  checkRow(
    'ResourceQuota',
    { status: { hard, used } },
    {
      Request: 'cpu: 1/100, limits: 0/1, memory: 1Gi/4Gi, pods: 0/10',
      Limit: 'limits.a: 0/1, limits.cpu: 500m/200, limits.memory: 0/8Gi',
    },
  );
  checkRow('ResourceQuota', {}, { Request: '', Limit: '' });
});

test('priority classes show their fields', () => {
  const object = { value: 1_000_000_000, globalDefault: true, preemptionPolicy: 'Never' };
  const key = 'PriorityClass.scheduling.k8s.io';
  checkRow(key, object, { Value: 1_000_000_000, 'Global-Default': true, PreemptionPolicy: 'Never' });
  checkRow(key, {}, { Value: 0, 'Global-Default': false, PreemptionPolicy: '' });
});

test('pod groups show their policy, workload and state', () => {
  const check = (spec: object, conditions: object[], ...[Policy, Workload, Status]: [string, string, string]) =>
    checkRow('PodGroup.scheduling.k8s.io', { spec, status: { conditions } }, { Policy, Workload, Status });
  const scheduled = (status: string) => ({ type: 'PodGroupScheduled', status });
  const disrupted = { type: 'DisruptionTarget', status: 'True', reason: 'Preempted' };
  const ref = { podGroupTemplateRef: { workload: { workloadName: 'w' } } };
  check({}, [], 'Basic', '<none>', 'Pending');
  check({ schedulingPolicy: { gang: { minCount: 2 } }, ...ref }, [scheduled('True')], 'Gang', 'w', 'Scheduled');
  check({ schedulingPolicy: { basic: {} } }, [scheduled('False')], 'Basic', '<none>', 'Unschedulable');
  check({}, [disrupted, scheduled('True')], 'Basic', '<none>', 'Preempted');
});
