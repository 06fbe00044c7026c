import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@podwright/kube-api';
import { type ListOf, PODS } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import { DEPLOYMENTS } from '../objects/deployment.ts';
import {
  HORIZONTAL_POD_AUTOSCALERS,
  type HorizontalPodAutoscaler,
  type MetricSpec,
} from '../objects/horizontal-pod-autoscaler.ts';
import { testPod } from '../pods/test-pod.fixture.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { autoscalingEvery } from './autoscaling-controller.ts';

const CPU: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
};

type PlaceOptions = {
  replicas?: number;
  selector?: string;
  metrics?: MetricSpec[];
  target?: string;
  useMilli?: number;
};

/** A cluster with a Deployment `web`, its two pods with their CPU usage, and an autoscaler. */
class Place extends TestPlace {
  constructor({
    replicas = 2,
    selector = 'app=web',
    metrics = [CPU],
    useMilli = 100,
    target = 'Deployment',
  }: PlaceOptions) {
    super(autoscalingEvery(20));
    this.client.put(DEPLOYMENTS, { metadata: { namespace: 'shop', name: 'web' }, spec: { replicas } } as never);
    const start = new Date(Date.now() - 3_600_000).toISOString();
    for (const name of ['a', 'b']) {
      const pod = testPod({ name, labels: { app: 'web' }, readySinceMs: Date.now() - 3_000_000 });
      pod.spec.containers[0]!.resources = { requests: { cpu: '100m' } };
      this.client.put(PODS, { ...pod, status: { ...pod.status!, startTime: start } });
    }
    const scale = ({ path = '' }: { path?: string }) => {
      if (!path.endsWith('/scale')) return JSON.stringify({ resources: [] });
      const stored = this.client.stored<{ metadata: object; spec: { replicas: number } }>(DEPLOYMENTS, PLACE);
      return JSON.stringify({ metadata: PLACE, spec: stored?.spec, status: { replicas, selector } });
    };
    this.client.script({ verb: 'getText' }, ...Array.from({ length: 1000 }, () => scale));
    const items = ['a', 'b'].map((name) => ({
      metadata: { namespace: 'shop', name },
      ...{ timestamp: new Date().toISOString(), window: '15s' },
      containers: [{ name: 'c', usage: { cpu: `${useMilli}m` } }],
    }));
    const pods = () => ({ metadata: {}, items: this.client.stored(PODS, { namespace: 'shop', name: 'a' }) && items });
    this.#answerLists(pods);
    this.autoscaler('web', metrics, target);
  }

  /** Makes the fake client return PodMetrics lists. The client finds resources by plural name, which for PodMetrics is `pods` too. */
  #answerLists(metrics: () => unknown): void {
    const list = this.client.list.bind(this.client);
    this.client.list = <T extends KubeObject>(...[resource, selection]: Parameters<typeof list<T>>) => {
      if (resource.group === 'metrics.k8s.io') return Promise.resolve(metrics() as ListOf<T>);
      return list<T>(resource, selection);
    };
  }

  autoscaler(name: string, metrics: MetricSpec[], kind = 'Deployment'): void {
    const scaleTargetRef = { apiVersion: 'apps/v1', kind, name: 'web' };
    const spec = { scaleTargetRef, minReplicas: 1, maxReplicas: 5, metrics };
    this.client.put(HORIZONTAL_POD_AUTOSCALERS, {
      metadata: { namespace: 'shop', name, uid: `u-${name}` },
      spec,
    } as never);
  }

  status(name = 'web') {
    return this.client.stored<HorizontalPodAutoscaler>(HORIZONTAL_POD_AUTOSCALERS, { namespace: 'shop', name })?.status;
  }

  condition(type: string) {
    const found = this.status()?.conditions?.find((one) => one.type === type);
    return found && `${found.status} ${found.reason}: ${found.message}`;
  }

  get replicas() {
    return this.client.callsOf({ verb: 'update', subresource: 'scale' }).map(({ body }) => {
      const { spec } = body as { spec: { replicas: number } };
      return spec.replicas;
    });
  }
}

const PLACE = { namespace: 'shop', name: 'web' };

test('a workload with usage above the target is scaled up, with an event', async () => {
  await using place = new Place({});
  await place.until(() => place.status()?.desiredReplicas === 4);
  assert.equal(place.replicas[0], 4);
  assert.match(
    place.condition('AbleToScale')!,
    /^True SucceededRescale: the HPA controller was able to update the target scale to 4/,
  );
  assert.equal(
    place.condition('ScalingActive'),
    'True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)',
  );
  assert.deepEqual(place.status()?.currentMetrics, [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 100, averageValue: '100m' } } },
  ]);
  await place.until(() => place.events('SuccessfulRescale').length > 0);
  assert.equal(
    place.events('SuccessfulRescale')[0],
    'New size: 4; reason: cpu resource utilization (percentage of request) above target',
  );
});

test('a conflicting write of a scale is retried', async () => {
  await using place = new Place({});
  place.client.script({ verb: 'update', subresource: 'scale' }, refusal(409, 'Conflict'));
  await place.until(() => place.status()?.desiredReplicas === 4);
});

test('a failed write of a scale is reported', async () => {
  await using place = new Place({});
  const failures = Array.from({ length: 100 }, () => refusal(403, 'Forbidden', 'no'));
  place.client.script({ verb: 'update', subresource: 'scale' }, ...failures);
  await place.until(() => place.condition('AbleToScale')?.startsWith('False FailedUpdateScale'));
  await place.until(() => place.events('FailedRescale').length > 0);
  assert.match(place.events('FailedRescale')[0]!, /^New size: 4; reason: .* above target; error: no$/);
});

test('replicas outside the range are corrected without metrics', async () => {
  await using place = new Place({ replicas: 9, metrics: [] });
  await place.until(() => place.replicas.includes(5));
  await place.until(() => place.events('SuccessfulRescale').length > 0);
  assert.equal(
    place.events('SuccessfulRescale')[0],
    'New size: 5; reason: Current number of replicas above Spec.MaxReplicas',
  );
});

test('a workload scaled to zero is left alone', async () => {
  await using place = new Place({ replicas: 0 });
  await place.until(() => place.condition('ScalingActive')?.startsWith('False ScalingDisabled'));
  assert.deepEqual(place.replicas, []);
});

test('scaling down waits for the five-minute stabilization window', async () => {
  await using place = new Place({ useMilli: 1 });
  await place.until(() => place.condition('AbleToScale')?.startsWith('True ScaleDownStabilized'));
  assert.deepEqual(place.replicas, []);
});

test('the metric with the highest proposal wins, and a failing one does not prevent scaling up', async () => {
  const external: MetricSpec = {
    type: 'External',
    external: { metric: { name: 'qps' }, target: { type: 'Value', value: '1' } },
  };
  await using place = new Place({ metrics: [external, CPU] });
  await place.until(() => place.status()?.desiredReplicas === 4);
  await place.until(() => place.events('FailedGetExternalMetric').length > 0);
});

test('custom metrics are reported as unsupported', async () => {
  const pods: MetricSpec = {
    type: 'Pods',
    pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '1' } },
  };
  await using place = new Place({ metrics: [pods] });
  await place.until(() => place.condition('ScalingActive') !== undefined);
  const cause =
    'unable to get metric qps: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered';
  assert.equal(
    place.condition('ScalingActive'),
    `False FailedGetPodsMetric: the HPA was unable to compute the replica count: ${cause}`,
  );
  await place.until(() => place.events('FailedComputeMetricsReplicas').length > 0);
  assert.equal(
    place.events('FailedComputeMetricsReplicas')[0],
    `invalid metrics (1 invalid out of 1), first error is: failed to get pods metric value: ${cause}`,
  );
});

test('a nonexistent target and an unknown kind are reported', async () => {
  await using place = new Place({ target: 'Toaster' });
  await place.until(() => place.condition('AbleToScale')?.startsWith('False FailedGetScale'));
  assert.match(place.condition('AbleToScale')!, /: no matches for kind "Toaster" in group "apps"$/);
});

test('a scale without a selector is reported', async () => {
  await using place = new Place({ selector: '' });
  await place.until(() => place.condition('ScalingActive')?.startsWith('False InvalidSelector'));
  await place.until(() => place.events('SelectorRequired').length > 0);
});

test('two autoscalers of the same pods scale nothing', async () => {
  await using place = new Place({ useMilli: 50 });
  await place.until(() => place.condition('ScalingActive')?.startsWith('True'));
  place.autoscaler('other', [CPU]);
  await place.until(() => place.condition('ScalingActive')?.startsWith('False AmbiguousSelector'));
  assert.match(
    place.condition('ScalingActive')!,
    /pods by selector app=web are controlled by multiple HPAs: \[\{\w+ shop\} \{\w+ shop\}\]$/,
  );
});
