/** Autoscaling of real pods by CPU usage, as measured by the node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.242.0/24', { hasApi: true });
  daemon = await place.startDaemon();
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

/** An app that runs a busy loop limited to a tenth of a core, and requests half of that. */
const APP = `apiVersion: apps/v1
kind: Deployment
metadata: {name: busy}
spec:
  replicas: 1
  selector: {matchLabels: {app: busy}}
  template:
    metadata: {labels: {app: busy}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: main
          image: ${exampleImage}
          command: [sh, -c, "while :; do :; done"]
          resources: {requests: {cpu: 50m, memory: 4Mi}, limits: {cpu: 100m, memory: 32Mi}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: busy}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: busy}
  minReplicas: 1
  maxReplicas: 3
  metrics:
    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}
    - {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}
`;

type Autoscaler = {
  status: {
    desiredReplicas: number;
    currentMetrics?: { resource?: { name: string; current: { averageUtilization?: number } } }[];
    conditions?: { type: string; status: string; reason: string; message: string }[];
  };
};
type Usage = { items: { metadata: { name: string }; usage?: object; containers?: { usage: { cpu: string } }[] }[] };

test('pods are scaled up when their usage exceeds the target', async () => {
  await place.ok('apply', place.file('busy.yaml', APP));
  const metrics = '/apis/metrics.k8s.io/v1beta1';
  await place.until(async () => (await place.api<Usage>(`${metrics}/namespaces/default/pods`)).items.length > 0);
  const { items } = await place.api<Usage>(`${metrics}/nodes`);
  assert.equal(items.length, 1);
  const autoscaler = () =>
    place.api<Autoscaler>('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/busy');
  const describe = async () => JSON.stringify((await autoscaler()).status);
  await place
    .until(async () => (await autoscaler()).status?.desiredReplicas === 3, 120_000)
    .catch(async (error: unknown) => assert.fail(`${error}: ${await describe()}`));
  const { currentMetrics = [], conditions = [] } = (await autoscaler()).status;
  const cpu = currentMetrics.find(({ resource }) => resource?.name === 'cpu')?.resource?.current;
  assert.ok((cpu?.averageUtilization ?? 0) > 55, JSON.stringify(currentMetrics));
  assert.equal(conditions.find(({ type }) => type === 'ScalingActive')?.reason, 'ValidMetricFound');
  await place.until(async () => (await place.pods()).length === 3);
  assert.equal(daemon.child.exitCode, null);
});
