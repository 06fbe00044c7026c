import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../objects/types.ts';
import { defaultPullPolicy } from './container-defaults.ts';
import { applyDefaults } from './defaults.ts';

function specOf(spec: object): PodSpec {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a', image: 'b:1' }], ...spec },
  };
  return applyDefaults(pod as Pod).spec;
}

test('a bare pod gets the API server’s defaults', () => {
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

test('values that are set are preserved, even zero and false', () => {
  const spec = specOf({ terminationGracePeriodSeconds: 0, enableServiceLinks: false, restartPolicy: 'Never' });
  assert.equal(spec.terminationGracePeriodSeconds, 0);
  assert.equal(spec.enableServiceLinks, false);
  assert.equal(spec.restartPolicy, 'Never');
});

test('amounts finer than a milli-unit, negative grace periods and slashes in sysctls are normalized like upstream', () => {
  const resources = { requests: { cpu: '0.1m', memory: '1.5Gi' }, limits: { memory: '2000000u', cpu: '1100u' } };
  const sysctls = [{ name: 'net/ipv4/ip_unprivileged_port_start', value: '80' }];
  const env = [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } }];
  const spec = specOf({
    containers: [{ name: 'a', image: 'b:1', resources, env }],
    securityContext: { sysctls },
    terminationGracePeriodSeconds: -1,
  });
  const [container] = spec.containers;
  assert.deepEqual(container?.resources, {
    requests: { cpu: '1m', memory: '1.5Gi' },
    limits: { memory: '2000000u', cpu: '2m' },
  });
  assert.equal(container?.env?.[0]?.valueFrom?.fileKeyRef?.optional, false);
  assert.equal(spec.terminationGracePeriodSeconds, 1);
  assert.equal(spec.securityContext?.sysctls?.[0]?.name, 'net.ipv4.ip_unprivileged_port_start');
});

test('images tagged latest, explicitly or implicitly, are always pulled', () => {
  const table: [string, string][] = [
    ['busybox', 'Always'],
    ['busybox:latest', 'Always'],
    ['r.example:5000/a/b_c__d', 'Always'],
    ['Upper/case', 'Always'],
    ['Not_valid/ x', 'IfNotPresent'],
    ['UPPER', 'IfNotPresent'],
    ['x'.repeat(300), 'IfNotPresent'],
    ['busybox:1.36', 'IfNotPresent'],
    ['localhost:5000/busybox', 'Always'],
    ['localhost:5000/busybox:v1', 'IfNotPresent'],
    [`busybox@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
  ];
  for (const [image, policy] of table) assert.equal(defaultPullPolicy(image), policy, image);
});

test('missing requests default to the limits', () => {
  const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } };
  const spec = specOf({ containers: [{ name: 'a', image: 'b', resources }] });
  assert.deepEqual(spec.containers[0]?.resources?.requests, { cpu: '100m', memory: '1Gi' });
});

test('ports, probes and volumes get defaults', () => {
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

test('the deprecated service account field still works', () => {
  assert.equal(specOf({ serviceAccount: 'old' }).serviceAccountName, 'old');
});

test('a host port of 0 is treated as unset', () => {
  const spec = specOf({ containers: [{ name: 'a', image: 'b', ports: [{ containerPort: 80, hostPort: 0 }] }] });
  assert.deepEqual(spec.containers[0]?.ports, [{ containerPort: 80, protocol: 'TCP' }]);
});

test('field and resource references default their version and divisor', () => {
  const fieldRef = { fieldPath: 'metadata.name' };
  const resourceFieldRef = { containerName: 'a', resource: 'limits.cpu' };
  const items = [
    { path: 'f', fieldRef },
    { path: 'r', resourceFieldRef },
  ];
  const complete = [
    { path: 'f', fieldRef: { ...fieldRef, apiVersion: 'v1' } },
    { path: 'r', resourceFieldRef: { ...resourceFieldRef, divisor: '0' } },
  ];
  const volumes = [
    { name: 'd', downwardAPI: { items } },
    { name: 'p', projected: { sources: [{ downwardAPI: { items } }] } },
    { name: 'i', image: { reference: 'm' } },
  ];
  const env = [{ name: 'A', valueFrom: { resourceFieldRef } }];
  const metadata = { name: 'web', namespace: '', uid: '' };
  const spec = { containers: [{ name: 'a', image: 'b', env }], volumes };
  const pod = applyDefaults<Pod>({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
  assert.deepEqual(pod.spec.volumes?.[0]?.downwardAPI?.items, complete);
  assert.deepEqual(pod.spec.volumes?.[1]?.projected?.sources?.[0]?.downwardAPI?.items, complete);
  assert.equal(pod.spec.volumes?.[2]?.image?.pullPolicy, 'Always');
  assert.equal(pod.spec.containers[0]?.env?.[0]?.valueFrom?.resourceFieldRef?.divisor, '0');
});
