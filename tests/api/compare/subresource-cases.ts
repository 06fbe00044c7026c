/** Subresources: scale, eviction, binding, token, ephemeral containers, resize, log, and finalization of namespaces. */
import type { Case } from './cases.ts';
import type { Json } from './json.ts';
import { fresh } from './life-cycle-case.ts';
import type { Transcript } from './transcript.ts';
import { NAMESPACE, SAMPLES, type Sample } from './valid-objects.ts';

const CORE = `/api/v1/namespaces/${NAMESPACE}`;
const APPS = `/apis/apps/v1/namespaces/${NAMESPACE}`;

export const sampleOfKind = (kind: string): Sample => SAMPLES.find(({ object }) => object.kind === kind)!;

async function pod(api: Transcript, name: string, changes: Json = {}): Promise<string> {
  const { resource, object } = sampleOfKind('Pod');
  const own = {
    ...object,
    metadata: { ...object.metadata, name, ...changes.metadata },
    spec: { ...object.spec, ...changes.spec },
  };
  await fresh(api, { resource, object: own });
  return `${resource}/${name}`;
}

const scaleCase = (kind: string): Case => ({
  name: `scale of a ${kind}`,
  run: async (api) => {
    const sample = sampleOfKind(kind);
    await fresh(api, sample);
    const path = `${sample.resource}/${sample.object.metadata.name}/scale`;
    const { body } = await api.get(path);
    await api.get(path, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' });
    await api.put(path, { ...body, spec: { replicas: 3 } });
    await api.put(path, { ...body, spec: { replicas: 4 } });
    await api.put(path, {
      ...body,
      metadata: { ...body.metadata, resourceVersion: undefined },
      spec: { replicas: -1 },
    });
    await api.put(path, { ...body, metadata: { ...body.metadata, name: 'other' } });
    await api.put(path, { ...body, kind: 'Other' });
    await api.put(path, {});
    await api.patch(path, 'merge', { spec: { replicas: 5 } });
    await api.patch(path, 'merge', { spec: { replicas: 'x' } });
    await api.patch(path, 'strategic-merge', { spec: { replicas: 6 } });
    await api.patch(path, 'json', [{ op: 'replace', path: '/spec/replicas', value: 7 }]);
    await api.patch(`${path}?fieldManager=scaler`, 'apply', {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: sample.object.metadata.name },
      spec: { replicas: 8 },
    });
    await api.get(path.replace('/scale', ''));
    await api.get(path.replace(sample.object.metadata.name, 'missing'));
    await api.patch(path.replace(sample.object.metadata.name, 'missing'), 'merge', { spec: { replicas: 5 } });
  },
});

export const SUBRESOURCE_CASES: readonly Case[] = [
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController'].map(scaleCase),
  {
    name: 'eviction',
    run: async (api) => {
      const path = await pod(api, 'evicted');
      const eviction = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: 'evicted', namespace: NAMESPACE },
      };
      await api.post(`${path}/eviction`, { ...eviction, metadata: { name: 'other' } });
      await api.post(`${path}/eviction`, {});
      await api.post(`${path}/eviction`, { ...eviction, kind: 'Wrong' });
      await api.post(`${path}/eviction?dryRun=All`, eviction);
      await api.post(`${path}/eviction`, { ...eviction, deleteOptions: { dryRun: ['All'] } });
      await api.post(`${path}/eviction`, { ...eviction, deleteOptions: { preconditions: { uid: 'x' } } });
      const budget = `/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets`;
      await api.send(
        'POST',
        budget,
        { metadata: { name: 'own' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } } },
        { quiet: true },
      );
      await api.patch(`${path}/status`, 'merge', {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      });
      await api.post(`${path}/eviction`, eviction);
      await api.patch(`${budget}/own/status`, 'merge', {
        status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      });
      await api.post(`${path}/eviction`, eviction);
      await api.patch(`${budget}/own/status`, 'merge', {
        status: { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
      });
      await api.post(`${path}/eviction`, eviction);
      await api.get(`${budget}/own`);
      await api.send('DELETE', `${budget}/own`, undefined, { quiet: true });
      await api.get(path);
      await api.post(`${CORE}/pods/missing/eviction`, { ...eviction, metadata: { name: 'missing' } });
    },
  },
  {
    name: 'binding',
    run: async (api) => {
      const path = await pod(api, 'bound');
      const binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'bound' },
        target: { kind: 'Node', name: 'none' },
      };
      await api.post(`${path}/binding`, {});
      await api.post(`${path}/binding`, { ...binding, target: { kind: 'Pod', name: 'n' } });
      await api.post(`${path}/binding`, { ...binding, metadata: { name: 'other' } });
      await api.post(`${path}/binding?dryRun=All`, binding);
      await api.post(`${CORE}/bindings`, binding);
      await api.post(`${path}/binding`, binding);
      await api.get(path);
      await api.post(`${CORE}/pods/missing/binding`, { ...binding, metadata: { name: 'missing' } });
      await api.delete(path);
      await api.get(path);
      await api.delete(path, { gracePeriodSeconds: 0 });
    },
  },
  {
    name: 'deletion of bound pods',
    run: async (api) => {
      for (const [name, options] of [
        ['grace-default', {}],
        ['grace-five', { gracePeriodSeconds: 5 }],
        ['grace-negative', { gracePeriodSeconds: -5 }],
        ['grace-zero', { gracePeriodSeconds: 0 }],
      ] as const) {
        const path = await pod(api, name, { spec: { nodeName: 'none' } });
        await api.delete(path, options);
        await api.delete(path, { gracePeriodSeconds: 2 });
        await api.delete(path, { gracePeriodSeconds: 20 });
        await api.patch(path, 'merge', { metadata: { labels: { late: 'yes' } } });
        await api.send('DELETE', path, { gracePeriodSeconds: 0 }, { quiet: true });
      }
    },
  },
  {
    name: 'ephemeral containers',
    run: async (api) => {
      const path = `${await pod(api, 'debugged')}/ephemeralcontainers`;
      const containers = (...ephemeralContainers: Json[]) =>
        api.patch(path, 'strategic-merge', { spec: { ephemeralContainers } });
      await api.get(path);
      await containers({ name: 'debug', image: 'busybox', targetContainerName: 'web', stdin: true });
      await containers({ name: 'debug', image: 'other' });
      await containers({
        name: 'two',
        image: 'busybox',
        ports: [{ containerPort: 1 }],
        resources: { limits: { cpu: '1' } },
      });
      await containers({ name: 'web', image: 'busybox' });
      await containers({ name: 'three', image: 'busybox', targetContainerName: 'nothing' });
      await api.patch(path, 'json', [{ op: 'remove', path: '/spec/ephemeralContainers/0' }]);
      await api.patch(path, 'merge', { metadata: { labels: { a: 'b' } }, spec: { activeDeadlineSeconds: 4 } });
    },
  },
  {
    name: 'resize',
    run: async (api) => {
      const path = `${await pod(api, 'resized')}/resize`;
      const resources = (value: Json) =>
        api.patch(path, 'strategic-merge', { spec: { containers: [{ name: 'web', resources: value }] } });
      await api.get(path);
      await resources({ requests: { cpu: '200m' } });
      await resources({ limits: { memory: '1Mi' } });
      await resources({ limits: { memory: null } });
      await resources({ requests: { cpu: '2' } });
      await resources({ requests: { 'example.com/x': '1' }, limits: { 'example.com/x': '1' } });
      await api.patch(path, 'strategic-merge', { spec: { containers: [{ name: 'web', image: 'other' }] } });
      await api.patch(path, 'strategic-merge', {
        spec: {
          containers: [{ name: 'web', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }],
        },
      });
    },
  },
  {
    name: 'tokens of service accounts',
    run: async (api) => {
      const token = (body: Json) => api.post(`${CORE}/serviceaccounts/default/token`, body);
      await token({ spec: {} });
      await token({ spec: { audiences: ['a'], expirationSeconds: 3600 } });
      await token({ spec: { audiences: ['a'], expirationSeconds: 5 } });
      await token({ spec: { audiences: ['a'], expirationSeconds: 5_000_000_000 } });
      await token({ spec: { audiences: ['a'], boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'missing' } } });
      await token({ spec: { audiences: ['a'], boundObjectRef: { kind: 'Wrong', apiVersion: 'v1', name: 'missing' } } });
      await token({ metadata: { name: 'other' }, spec: {} });
      await token({});
      await api.post(`${CORE}/serviceaccounts/missing/token`, { spec: {} });
      await api.get(`${CORE}/serviceaccounts/default/token`);
    },
  },
  {
    name: 'namespaces end',
    run: async (api) => {
      await api.send('POST', '/api/v1/namespaces', { metadata: { name: 'ending' } }, { quiet: true });
      await api.post('/api/v1/namespaces/ending/configmaps', {
        metadata: { name: 'held', finalizers: ['example.com/f'] },
      });
      await api.put('/api/v1/namespaces/ending/finalize', {
        metadata: { name: 'ending' },
        spec: { finalizers: ['kubernetes', 'example.com/x'] },
      });
      await api.put('/api/v1/namespaces/ending/finalize', {
        metadata: { name: 'ending' },
        spec: { finalizers: ['x'] },
      });
      await api.delete('/api/v1/namespaces/ending');
      await api.delete('/api/v1/namespaces/ending');
      await api.post('/api/v1/namespaces/ending/configmaps', { metadata: { name: 'late' } });
      await api.patch('/api/v1/namespaces/ending/configmaps/held', 'merge', { data: { a: 'b' } });
      await api.patch('/api/v1/namespaces/ending/configmaps/held', 'merge', { metadata: { finalizers: null } });
      await api.put('/api/v1/namespaces/ending/finalize', { metadata: { name: 'ending' }, spec: { finalizers: [] } });
      await api.delete('/api/v1/namespaces/default');
      await api.delete('/api/v1/namespaces/kube-system');
      await api.delete('/api/v1/namespaces/missing');
    },
  },
  {
    name: 'subresources of pods without a node',
    run: async (api) => {
      const path = await pod(api, 'nodeless');
      for (const name of [
        'log',
        'log?container=x',
        'log?tailLines=-1',
        'log?sinceSeconds=0',
        'log?limitBytes=0',
        'log?follow=x',
        'exec?command=ls',
        'attach',
        'portforward',
        'proxy/',
        'status',
      ])
        await api.get(`${path}/${name}`);
      await api.get(`${CORE}/pods/missing/log`);
      await api.get(`${CORE}/services/missing/proxy/`);
      await api.get('/api/v1/nodes/missing/proxy/');
      await api.get(`${APPS}/deployments/missing/status`);
    },
  },
];
