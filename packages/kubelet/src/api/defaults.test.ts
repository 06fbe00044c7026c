import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPullPolicy } from './container-defaults.ts';
import { applyDefaults } from './defaults.ts';
import type { Pod, PodSpec } from './types.ts';

function specOf(spec: object): PodSpec {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a', image: 'b:1' }], ...spec },
  };
  return applyDefaults(pod as Pod).spec;
}

test('a bare pod gets the defaults of the API server', () => {
  assert.deepEqual(specOf({}), {
    containers: [
      {
        name: 'a',
        image: 'b:1',
        imagePullPolicy: 'IfNotPresent',
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        resources: {},
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
  });
});

test('the two priority classes that every cluster has stand for their numbers', () => {
  assert.equal(specOf({ priorityClassName: 'system-node-critical' }).priority, 2_000_001_000);
  assert.equal(specOf({ priorityClassName: 'system-cluster-critical' }).priority, 2_000_000_000);
  assert.equal(specOf({ priorityClassName: 'system-node-critical', priority: 7 }).priority, 7);
  assert.equal(specOf({ priorityClassName: 'mine' }).priority, undefined);
});

test('what is given stays, also zero and false', () => {
  const spec = specOf({ terminationGracePeriodSeconds: 0, enableServiceLinks: false, restartPolicy: 'Never' });
  assert.equal(spec.terminationGracePeriodSeconds, 0);
  assert.equal(spec.enableServiceLinks, false);
  assert.equal(spec.restartPolicy, 'Never');
});

test('images with the tag latest, given or implied, are always pulled', () => {
  const table: [string, string][] = [
    ['busybox', 'Always'],
    ['busybox:latest', 'Always'],
    ['busybox:1.36', 'IfNotPresent'],
    ['localhost:5000/busybox', 'Always'],
    ['localhost:5000/busybox:v1', 'IfNotPresent'],
    [`busybox@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
  ];
  for (const [image, policy] of table) assert.equal(defaultPullPolicy(image), policy, image);
});

test('limits stand in for requests that are missing', () => {
  const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } };
  const spec = specOf({ containers: [{ name: 'a', image: 'b', resources }] });
  assert.deepEqual(spec.containers[0]?.resources?.requests, { cpu: '100m', memory: '1Gi' });
});

test('ports, probes and volumes are completed', () => {
  const spec = specOf({
    hostNetwork: true,
    volumes: [{ name: 'v' }, { name: 's', secret: { secretName: 'x' } }, { name: 'h', hostPath: { path: '/' } }],
    containers: [
      {
        name: 'a',
        image: 'b',
        ports: [{ containerPort: 80 }],
        livenessProbe: { httpGet: { port: 80 }, timeoutSeconds: 0 },
      },
    ],
  });
  assert.deepEqual(spec.containers[0]?.ports, [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }]);
  assert.deepEqual(spec.containers[0]?.livenessProbe, {
    httpGet: { port: 80, path: '/', scheme: 'HTTP' },
    initialDelaySeconds: 0,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  assert.deepEqual(spec.volumes, [
    { name: 'v', emptyDir: {} },
    { name: 's', secret: { secretName: 'x', defaultMode: 0o644 } },
    { name: 'h', hostPath: { path: '/', type: '' } },
  ]);
});

test('the old name of the service account still works', () => {
  assert.equal(specOf({ serviceAccount: 'old' }).serviceAccountName, 'old');
});

test('a host port of 0 is none', () => {
  const spec = specOf({ containers: [{ name: 'a', image: 'b', ports: [{ containerPort: 80, hostPort: 0 }] }] });
  assert.deepEqual(spec.containers[0]?.ports, [{ containerPort: 80, protocol: 'TCP' }]);
});
