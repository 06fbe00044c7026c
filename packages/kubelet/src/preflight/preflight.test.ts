import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeManifest, formatFieldPath, LocalObjects } from '@podwright/kube-api';
import { type PreflightHost, preflight } from './preflight.ts';

const host: PreflightHost = {
  nodeName: 'here',
  seccompRoot: '/none',
  facts: {
    name: 'here',
    labels: { 'kubernetes.io/os': 'linux' },
    maxPods: 10,
    allowedUnsafeSysctls: [],
    resources: { cpu: 2000n, memory: 1n << 30n },
  },
};

const podText = (spec: string, name = 'web') =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n${spec.replaceAll(/^/gm, '  ')}\n`;

function decode(text: string) {
  const { objects, errors } = decodeManifest(text, { file: 'x.yaml' });
  assert.deepEqual(errors, []);
  return objects.map(({ object }) => object);
}

const findings = (text: string, on: PreflightHost = host) =>
  preflight(decode(text), on).map(
    ({ severity, name, path, message }) => `${severity} ${name} ${formatFieldPath(path)}: ${message}`,
  );

/** A host with a node that has the objects and pods of `manifest`, and the given images. */
function withNode(manifest: string, images: string[]): PreflightHost {
  const objects = new LocalObjects();
  const known = decode(manifest);
  objects.replace(known.filter((object) => object.kind !== 'Pod'));
  const pods = known.filter((object) => object.kind === 'Pod');
  return { ...host, node: { objects, pods, images: new Set(images) } };
}

const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\nbinaryData: {z: aGk=}\n';
const references = podText(`runtimeClassName: fast
volumes:
- {name: v, projected: {sources: [{configMap: {name: c, items: [{key: z, path: p}, {key: k, path: q}]}}]}}
- {name: o, secret: {secretName: s, optional: true}}
containers:
- name: a
  image: b
  envFrom: [{secretRef: {name: s}}]
  env: [{name: X, valueFrom: {configMapKeyRef: {name: c, key: a}}}]`);

test('a reference to a missing object or key is a problem of the referring field', () => {
  assert.deepEqual(findings(`${references}---\n${configMap}`), [
    'problem web spec.runtimeClassName: RuntimeClass fast is not in these files; the pod waits until there is one',
    'problem web spec.volumes[0].projected.sources[0].configMap.items[1].key: ConfigMap default/c has no key "k"',
    'problem web spec.containers[0].envFrom[0].secretRef.name: Secret default/s is not in these files; the pod waits until there is one',
  ]);
});

test('an object with errors is not also reported as missing', () => {
  const text = `${podText('containers: [{name: a, image: b, envFrom: [{configMapRef: {name: c}}]}]')}---\n${configMap}`;
  const { objects, refused, errors } = decodeManifest(text.replace('data: {a: b}', 'data: {a: 1}'), { file: 'x.yaml' });
  assert.deepEqual([errors.length, refused], [1, ['ConfigMap default/c']]);
  const pods = objects.map(({ object }) => object);
  assert.deepEqual(preflight(pods, { ...host, refused }), []);
  assert.equal(preflight(pods, host).length, 1);
});

test('objects and images of the node are not missing, and other images are noted', () => {
  const others = [
    configMap.replace('a: b', 'a: b, k: "1"'),
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n',
    'apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: fast}\nhandler: crun\n',
  ].join('---\n');
  assert.deepEqual(findings(references, withNode(others, ['docker.io/library/b:latest'])), []);
  const text = podText('containers:\n- {name: a, image: x/b:1}\n- {name: b, image: c, imagePullPolicy: Never}');
  assert.deepEqual(findings(text, withNode(others, [])), [
    'note web spec.containers[0].image: x/b:1 is not on this host yet; it will be pulled',
    'problem web spec.containers[1].image: c is not on this host, and its pull policy Never keeps it from being pulled',
  ]);
});

test('requests are compared with allocatable, individually and in total', () => {
  const requesting = (name: string, resources: string) =>
    podText(
      `containers:\n- {name: small, image: b}\n- {name: a, image: b, resources: {requests: {${resources}}}}`,
      name,
    );
  const refused =
    "problem b spec.containers[1].resources: the node will refuse the pod: Node didn't have enough resource: ";
  assert.deepEqual(findings([requesting('a', 'cpu: 1500m'), requesting('b', 'cpu: 1, memory: 1Ti')].join('---\n')), [
    `${refused}cpu, requested: 1000, used: 1500, capacity: 2000`,
  ]);
  const whole = podText('resources: {requests: {cpu: 3}}\ncontainers:\n- {name: a, image: b}', 'b');
  assert.deepEqual(findings(whole), [
    `${refused.replace('.containers[1]', '')}cpu, requested: 3000, used: 0, capacity: 2000`,
  ]);
  assert.deepEqual(findings(requesting('b', 'memory: 1Ti')), [
    `${refused}memory, requested: ${2 ** 40}, used: 0, capacity: ${2 ** 30}`,
  ]);
  const critical = requesting('b', 'cpu: 1').replace('spec:', 'spec:\n  priorityClassName: system-node-critical');
  assert.deepEqual(findings(`${requesting('a', 'cpu: 1500m')}---\n${critical}`), [
    'note b spec: the node will preempt for it: default/a',
  ]);
  const replaced = withNode(requesting('a', 'cpu: 2'), ['docker.io/library/b:latest']);
  assert.deepEqual(findings(requesting('a', 'cpu: 2'), replaced), []);
  assert.match(
    String(findings(requesting('b', 'cpu: 1'), replaced)),
    /cpu, requested: 1000, used: 2000, capacity: 2000$/,
  );
});

test('admission rejections are predicted', () => {
  const text = podText(
    'nodeSelector: {disk: ssd}\ncontainers: [{name: a, image: b, ports: [{containerPort: 1, hostPort: 80}]}]',
  );
  const port = podText('containers: [{name: a, image: b, ports: [{containerPort: 1, hostPort: 80}]}]', 'second');
  assert.deepEqual(findings(`${text}---\n${port}`), [
    "problem web spec.nodeSelector: the node will refuse the pod: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    "problem second spec.containers[0].ports[0].hostPort: the node will refuse the pod: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports: port 80/TCP of the host is taken by pod default/web",
  ]);
  assert.deepEqual(findings(podText('containers: [{name: a, image: "A_:b"}]')), [
    'problem web spec.containers[0].image: "A_:b" is not the name of an image',
  ]);
});

test('a host port on ::1 is a problem, because it does not reach the pod', () => {
  const ports = (hostIP: string, rest = '') =>
    podText(
      `${rest}containers: [{name: a, image: b, ports: [{containerPort: 80, hostPort: 80, hostIP: "${hostIP}"}]}]`,
    );
  const where = 'problem web spec.containers[0].ports[0].hostPort';
  for (const ip of ['::1', '0:0:0:0:0:0:0:1'])
    assert.deepEqual(findings(ports(ip)), [
      `${where}: [${ip}]:80/TCP of the host reaches no pod; hostIP 127.0.0.1 does`,
    ]);
  for (const ip of ['127.0.0.1', '::', 'fd00::1', '10.0.0.1']) assert.deepEqual(findings(ports(ip)), []);
  assert.deepEqual(findings(ports('::1', 'hostNetwork: true\n')), []);
});

test('a missing extended resource is a problem on a running node, and otherwise a note', () => {
  const text = podText('containers: [{name: a, image: b, resources: {limits: {e.com/gpu: 1, e.com/npu: 1, cpu: 1}}}]');
  const field = 'web spec.containers[0].resources.limits';
  assert.deepEqual(findings(text), [
    `note ${field}[e.com/gpu]: the pod waits until a device plugin offers e.com/gpu, which only a running node knows`,
    `note ${field}[e.com/npu]: the pod waits until a device plugin offers e.com/npu, which only a running node knows`,
  ]);
  const facts = { ...host.facts, resources: { ...host.facts.resources, 'e.com/gpu': 2n } };
  const node = { objects: new LocalObjects(), pods: [] };
  assert.deepEqual(findings(text, { ...host, facts, node }), [
    `problem ${field}[e.com/npu]: no device plugin offers e.com/npu now; the pod waits until one does`,
  ]);
});

test('the finding says whether nodeSelector or affinity does not match', () => {
  const affinity =
    'affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [TERM]}}}';
  const blamed = (term: string, rest = '') =>
    /spec\.\w+/.exec(
      String(findings(podText(`${affinity.replace('TERM', term)}${rest}\ncontainers: [{name: a, image: b}]`))),
    )?.[0];
  const missing = '{matchExpressions: [{key: disk, operator: DoesNotExist}]}';
  assert.equal(blamed(missing, '\nnodeSelector: {disk: ssd}'), 'spec.nodeSelector');
  assert.equal(blamed(missing.replace('DoesNotExist', 'Exists')), 'spec.affinity');
});

test('fields used only in clusters are noted', () => {
  const spec = `nodeName: there
schedulerName: mine
priorityClassName: high
serviceAccount: robot
tolerations: [{operator: Exists}]
containers: [{name: a, image: b}]`;
  assert.deepEqual(findings(podText(spec)), [
    'note web spec.nodeName: "there" is ignored: this node is "here", and runs the pod',
    'note web spec.schedulerName: "mine" is ignored: a standalone node has no scheduler',
    'note web spec.priorityClassName: "high" is ignored: a standalone node has no priority classes',
    'note web spec.serviceAccountName: "robot" is ignored: without an API server there are no service accounts',
  ]);
  assert.deepEqual(
    findings(podText('nodeName: here\nschedulerName: default-scheduler\ncontainers: [{name: a, image: b}]')),
    [],
  );
});
