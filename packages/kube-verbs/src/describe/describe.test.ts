import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject, ApiPort } from '../api-port.ts';
import { wordsOf } from './any-object.ts';
import { describeObject, type Related, readRelated } from './describe.ts';

const NONE: Related = { pods: [], replicaSets: [], slices: [], events: [] };
const NOW = Date.parse('2026-11-30T12:00:00Z');

function check(object: object, related: Partial<Related>, expected: string): void {
  assert.equal(describeObject(object as ApiObject, { ...NONE, ...related }, NOW), expected.trim());
}

const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'web:1',
        ports: [{ name: 'http', containerPort: 80, hostPort: 8080 }],
        command: ['sh', '-c', 'a\nb'],
        resources: { limits: { memory: '1Gi' }, requests: { cpu: '1' } },
        livenessProbe: { httpGet: { path: '/ok', port: 'http' }, periodSeconds: 10, failureThreshold: 3 },
        env: [
          { name: 'A', value: 'b' },
          { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        ],
        envFrom: [{ configMapRef: { name: 'settings' } }],
        volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true, subPath: 'x' }],
      },
    ],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 }],
  },
};

test('a Deployment is described with its replicas, strategy, template, conditions and ReplicaSets', () => {
  const metadata = {
    name: 'web',
    namespace: 'shop',
    uid: 'd',
    annotations: { 'deployment.kubernetes.io/revision': '2' },
  };
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd', controller: true }];
  const set = (name: string, revision: string) => ({
    metadata: { name, ownerReferences, annotations: { 'deployment.kubernetes.io/revision': revision } },
    spec: { replicas: 2 },
    status: { replicas: 1 },
  });
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, creationTimestamp: '2026-11-30T11:00:00Z' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 1 } },
      template,
    },
    status: { replicas: 3, updatedReplicas: 1, conditions: [{ type: 'Available', status: 'True', reason: 'Enough' }] },
  };
  const events = [
    {
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      message: 'Scaled up',
      count: 3,
      firstTimestamp: '2026-11-30T11:50:00Z',
      lastTimestamp: '2026-11-30T11:59:55Z',
      source: { component: 'deployment-controller' },
    },
  ];
  const expected = `
Name:                   web
Namespace:              shop
CreationTimestamp:      Mon, 30 Nov 2026 11:00:00 +0000
Labels:                 <none>
Annotations:            deployment.kubernetes.io/revision: 2
Selector:               app=web
Replicas:               2 desired | 1 updated | 3 total | 0 available | 0 unavailable
StrategyType:           RollingUpdate
MinReadySeconds:        0
RollingUpdateStrategy:  25% max unavailable, 1 max surge
Pod Template:
  Labels:  app=web
  Containers:
   main:
    Image:      web:1
    Port:       80/TCP (http)
    Host Port:  8080/TCP (http)
    Command:
      sh
      -c
      a
      b
    Limits:
      memory:  1Gi
    Requests:
      cpu:     1
    Liveness:  http-get http://:http/ok delay=0s timeout=0s period=10s #success=0 #failure=3
    Environment Variables from:
      settings  ConfigMap  Optional: false
    Environment:
      A:    b
      KEY:  <set to the key 'k' in secret 's'>  Optional: false
    Mounts:
      /data from data (ro,path="x")
  Volumes:
   data:
    Type:          PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)
    ClaimName:     data
    ReadOnly:      false
  Node-Selectors:  <none>
  Tolerations:     a:NoExecute op=Exists for 3s
Conditions:
  Type           Status  Reason
  ----           ------  ------
  Available      True    Enough
OldReplicaSets:  web-a (1/2 replicas created)
NewReplicaSet:   web-b (1/2 replicas created)
Events:
  Type    Reason             Age               From                   Message
  ----    ------             ----              ----                   -------
  Normal  ScalingReplicaSet  5s (x3 over 10m)  deployment-controller  Scaled up`;
  check(deployment, { replicaSets: [set('web-a', '1'), set('web-b', '2')], events }, expected);
});

test('parts that the user may not read are replaced by the reason', async () => {
  const refusing: ApiPort = {
    call: ({ path }) => Promise.reject(new Error(`${path.split('/').at(-1)} is forbidden`)),
    watch: () => assert.fail('watches'),
  };
  const described = async (kind: string, apiVersion: string, spec: object) => {
    const object = { apiVersion, kind, metadata: { name: 'web', namespace: 'shop', uid: 'u' }, spec } as ApiObject;
    return describeObject(object, await readRelated(refusing, object), NOW);
  };
  const selector = { matchLabels: { app: 'web' } };
  const noEvents = /^Events:\s+error in fetching events: events is forbidden$/m;
  const set = await described('StatefulSet', 'apps/v1', { replicas: 1, selector, template });
  assert.match(set, /^Pods Status:\s+error in fetching pods: pods is forbidden$/m);
  assert.match(set, noEvents);
  const deployment = await described('Deployment', 'apps/v1', { replicas: 1, selector, template });
  assert.match(deployment, /^NewReplicaSet:\s+error in fetching ReplicaSets: replicasets is forbidden$/m);
  const service = await described('Service', 'v1', { ports: [{ port: 80 }] });
  assert.match(service, /^Endpoints:\s+error in fetching EndpointSlices: endpointslices is forbidden$/m);
});

test('lists that an API server sends as null are empty', () => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { ports: [{ port: 80 }] },
  };
  const slices = [{ metadata: {}, endpoints: null, ports: null }];
  assert.match(describeObject(service as ApiObject, { ...NONE, slices }, NOW), /^Endpoints:\s*$/m);
});

test('a Service is described with the endpoints of each port', () => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
    spec: {
      type: 'NodePort',
      selector: { b: '2', a: '1' },
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', port: 80, targetPort: 'web', nodePort: 30001 }],
      sessionAffinity: 'None',
    },
  };
  const ready = (address: string) => ({ addresses: [address], conditions: { ready: true } });
  const endpoints = [
    ...['10.1.0.1', '10.1.0.2', '10.1.0.3', '10.1.0.4'].map(ready),
    { addresses: ['10.1.0.9'], conditions: { ready: false } },
  ];
  check(
    service,
    { slices: [{ metadata: {}, endpoints, ports: [{ name: 'http', port: 8080 }] }] },
    `
Name:              web
Namespace:         shop
Labels:            app=web
Annotations:       <none>
Selector:          a=1,b=2
Type:              NodePort
IP Families:       IPv4
IP:                10.0.0.1
IPs:               10.0.0.1
Port:              http  80/TCP
TargetPort:        web/TCP
NodePort:          http  30001/TCP
Endpoints:         10.1.0.1:8080,10.1.0.2:8080,10.1.0.3:8080 + 1 more...
Session Affinity:  None
Events:            <none>`,
  );
});

test('other kinds are described by their fields', () => {
  check(
    {
      apiVersion: 'example.com/v1',
      kind: 'CronTab',
      metadata: { name: 'mine', namespace: 'shop', uid: 'u', managedFields: [] },
      spec: { cronSpec: '* *', items: [{ b: 1, a: [] }, 'word'], nothing: null },
    },
    {},
    `
Name:         mine
Namespace:    shop
Labels:       <none>
Annotations:  <none>
API Version:  example.com/v1
Kind:         CronTab
Metadata:
  UID:  u
Spec:
  Cron Spec:  * *
  Items:
    A:
    B:  1
    word
  Nothing:  <nil>
Events:     <none>`,
  );
});

test('field names become words', () => {
  const table = {
    creationTimestamp: 'Creation Timestamp',
    uid: 'UID',
    clusterIPs: 'Cluster I Ps',
    jsonPath: 'Json Path',
  };
  for (const [name, words] of Object.entries(table)) assert.equal(wordsOf(name), words);
  for (const name of ['openAPIV3Schema', 'a.b/c', 'x_y']) assert.equal(wordsOf(name), name);
});
