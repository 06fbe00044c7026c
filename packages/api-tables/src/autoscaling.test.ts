import { test } from 'node:test';
import { checkRow } from './row-checks.fixture.ts';

const KEY = 'HorizontalPodAutoscaler.autoscaling';
const scaleTargetRef = { kind: 'ReplicationController', name: 'rc' };

function checkTargets(metrics: object[] | undefined, currentMetrics: object[] | undefined, Targets: string): void {
  checkRow(KEY, { spec: { scaleTargetRef, metrics, maxReplicas: 10 }, status: { currentMetrics } }, { Targets });
}

/** Checks how a metric is printed, both with and without a current value. */
function check(type: string, { target, current, ...more }: { target: object; current: object; name?: string }) {
  const key = `${type[0]!.toLowerCase()}${type.slice(1)}`;
  return ([unknown, known]: [string, string]) => {
    const metrics = [{ type, [key]: { ...more, target } }];
    checkTargets(metrics, undefined, unknown);
    checkTargets(metrics, [{ type, [key]: { ...more, current } }], known);
  };
}

test('metrics show their current and target values', () => {
  const average = { target: { averageValue: '100m' }, current: { averageValue: '50m' } };
  const value = { target: { value: '100m' }, current: { value: '50m' } };
  const utilization = { target: { averageUtilization: 80 }, current: { averageUtilization: 50, averageValue: '40m' } };
  for (const type of ['External', 'Object']) {
    check(type, average)(['<unknown>/100m (avg)', '50m/100m (avg)']);
    check(type, value)(['<unknown>/100m', '50m/100m']);
  }
  check('Pods', average)(['<unknown>/100m', '50m/100m']);
  for (const type of ['Resource', 'ContainerResource']) {
    check(type, { name: 'cpu', ...average })(['cpu: <unknown>/100m', 'cpu: 50m/100m']);
    check(type, { name: 'cpu', ...utilization })(['cpu: <unknown>/80%', 'cpu: 50%/80%']);
    check(type, { name: 'cpu', target: {}, current: {} })(['cpu: <unknown>/<auto>', 'cpu: <unknown>/<auto>']);
  }
});

test('unusual metrics are shown like upstream', () => {
  checkTargets(undefined, undefined, '<none>');
  checkTargets([{ type: 'Other' }], undefined, '<unknown type>');
  const metrics = [{ type: 'External', external: { target: { value: '1' } } }];
  checkTargets(metrics, [{ type: 'External', external: { current: { averageValue: '3' } } }], '<nil>/1');
  const average = [{ type: 'External', external: { target: { averageValue: '1' } } }];
  checkTargets(average, [{ type: 'External', external: { current: { value: '3' } } }], '<unknown>/1 (avg)');
});

test('at most two metrics are shown', () => {
  const pods = (averageValue: string) => ({ type: 'Pods', pods: { target: { averageValue } } });
  const cpu = { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } };
  const current = [
    { type: 'Pods', pods: { current: { averageValue: '50m' } } },
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 50 } } },
  ];
  checkTargets([pods('100m'), cpu], current, '50m/100m, cpu: 50%/80%');
  checkTargets([pods('100m'), cpu, pods('400m')], current, '50m/100m, cpu: 50%/80% + 1 more...');
});

test('an autoscaler shows its target and pod counts', () => {
  const object = { spec: { scaleTargetRef, maxReplicas: 10 }, status: { currentReplicas: 4 } };
  checkRow(KEY, object, { Reference: 'ReplicationController/rc', MinPods: '<unset>', MaxPods: 10, Replicas: 4 });
  checkRow(KEY, { spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 10 } }, { MinPods: '2', Replicas: 0 });
});

test('disruption budgets show a number, a percentage or neither', () => {
  const check = (spec: object, ...[min, max]: [string, string]) =>
    checkRow('PodDisruptionBudget.policy', { spec }, { 'Min Available': min, 'Max Unavailable': max });
  check({ minAvailable: 22 }, '22', 'N/A');
  check({ maxUnavailable: '30%' }, 'N/A', '30%');
  check({ maxUnavailable: 0 }, 'N/A', '0');
  checkRow('PodDisruptionBudget.policy', { status: { disruptionsAllowed: 5 } }, { 'Allowed Disruptions': 5 });
});
