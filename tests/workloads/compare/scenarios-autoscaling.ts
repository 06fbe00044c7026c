/**
 * HorizontalPodAutoscalers. On kube-apiserver, custom resources in the group `metrics.k8s.io` provide the pod metrics that metrics-server
 * would otherwise serve.
 */
import { sleep } from '@podwright/base';
import { formatTime, type KubeObject, type Pod, type Resource } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import { AUTOSCALERS, DEPLOYMENTS } from './resources.ts';
import { create, deployment, remove, type Scenario, type Step, spec, step, template } from './steps.ts';

const DEFINITIONS: Resource = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
};
const METRICS: Resource = {
  ...{ group: 'metrics.k8s.io', version: 'v1beta1', plural: 'pods', kind: 'PodMetrics', namespaced: true },
};

/** Defines the kind PodMetrics unless the API server already has it, as Podwright's does. */
const serveMetrics = step('serve metrics', async ({ client }) => {
  const isServed = () =>
    client.list(METRICS, { namespace: 'default' }).then(
      () => true,
      () => false,
    );
  if (await isServed()) return;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, for a comparison' };
  const definition = {
    metadata: { name: `${METRICS.plural}.${METRICS.group}`, annotations },
    spec: {
      ...{ group: METRICS.group, scope: 'Namespaced', names: { plural: 'pods', kind: METRICS.kind } },
      versions: [{ name: METRICS.version, served: true, storage: true, schema }],
    },
  };
  await client.create(DEFINITIONS, definition as KubeObject);
  while (!(await isServed())) await sleep(100);
});

/** Writes the usage of an app's current pods, repeating it over a few autoscaler periods to keep the metrics recent. */
const use = (app: string, usage: { cpu: string; memory: string }): Step =>
  step(`the pods of ${app} use ${JSON.stringify(usage)}`, async ({ client, namespace }) => {
    for (let round = 0; round < 5; round++) {
      const { items: pods } = await client.list<Pod>(PODS, { namespace, labelSelector: `app=${app}` });
      const { items: old } = await client.list(METRICS, { namespace });
      for (const { metadata } of old) await client.delete(METRICS, { namespace, name: metadata.name! });
      for (const { metadata } of pods) {
        const labels = metadata.labels;
        const containers = [{ name: 'main', usage }];
        const object = { metadata: { namespace, name: metadata.name, labels }, containers };
        await client.create(METRICS, {
          ...object,
          timestamp: formatTime(Date.now() + 60_000),
          window: '10s',
        } as KubeObject);
      }
      await sleep(2100);
    }
  });

const target = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const memory = (averageValue: string) => ({
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue } },
});
const autoscaler = (name: string, value: object): Step =>
  create(AUTOSCALERS, name, {
    spec: { scaleTargetRef: target(name), minReplicas: 2, maxReplicas: 5, metrics: [cpu(50)], ...value },
  });
const busy = (name: string, more: object = {}): Step =>
  deployment(name, {
    replicas: 2,
    template: template(name, {
      spec: {
        containers: [
          { name: 'main', image: 'v1', command: ['run'], resources: { requests: { cpu: '100m', memory: '64Mi' } } },
        ],
      },
    }),
    ...more,
  });
const periods = step('wait for some periods', () => sleep(5000));

export const AUTOSCALING: Scenario[] = [
  {
    name: 'autoscalers without metrics',
    restMs: 3000, // more than a period of the autoscaler
    steps: [
      serveMetrics,
      busy('few', { replicas: 1 }),
      autoscaler('few', {}),
      periods,
      busy('many', { replicas: 7 }),
      autoscaler('many', {}),
      periods,
      spec(DEPLOYMENTS, 'many', { replicas: 0 }),
      periods,
      autoscaler('absent', {}),
      periods,
      remove(AUTOSCALERS, 'absent'),
    ],
  },
  {
    name: 'autoscalers with metrics',
    onKubeApiserver: true,
    steps: [
      serveMetrics,
      busy('web'),
      autoscaler('web', {
        behavior: {
          scaleDown: { stabilizationWindowSeconds: 0 },
          scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 4 }] },
        },
      }),
      use('web', { cpu: '50m', memory: '10Mi' }),
      use('web', { cpu: '90m', memory: '10Mi' }),
      use('web', { cpu: '90m', memory: '10Mi' }),
      use('web', { cpu: '1m', memory: '10Mi' }),
      spec(AUTOSCALERS, 'web', { metrics: [cpu(50), memory('20Mi')] }),
      use('web', { cpu: '10m', memory: '39Mi' }),
      spec(AUTOSCALERS, 'web', { behavior: { scaleDown: { selectPolicy: 'Disabled' } } }),
      use('web', { cpu: '1m', memory: '1Mi' }),
    ],
  },
];
