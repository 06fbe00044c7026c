import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Container, type LocalObject, LocalObjects, type Pod } from '@podwright/kube-api';
import { makeEnvironment } from './environment.ts';
import { parseEnvironmentFile } from './environment-files.ts';

const metadata = (name: string) => ({ name, namespace: 'default', uid: 'u' });
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

function environment(
  fields: Partial<Container>,
  options: {
    spec?: object;
    podIps?: string[];
    files?: [string, string][];
    annotations?: Record<string, string>;
    services?: Record<string, string>;
  } = {},
): string[] {
  const objects = new LocalObjects();
  const stored: LocalObject[] = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('c'), data: { b: '2', a: '1', ref: '$(a)' } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata('s'),
      data: { a: base64('s3cret'), raw: base64(Buffer.from([0xff])) },
    },
  ];
  objects.replace(stored);
  const container: Container = { name: 'web', image: 'i', ...fields };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata('p'), labels: { app: 'x' }, annotations: options.annotations ?? {} },
    spec: { containers: [container], nodeName: 'n', ...options.spec },
  };
  const variables = makeEnvironment({
    pod,
    container,
    objects,
    files: new Map(options.files),
    services: options.services && new Map(Object.entries(options.services)),
    podIps: options.podIps ?? ['10.0.0.2', 'fd00::2'],
    hostIps: ['192.0.2.1'],
    nodeAllocatable: { cpuMillis: 2000n, memoryBytes: 1n << 30n, ephemeralStorageBytes: 5n },
  });
  return variables.map(({ name, value }) => `${name}=${value}`);
}

test('service variables come last, the container’s own take precedence, and variables may reference them', () => {
  const services = { WEB_SERVICE_HOST: '10.0.0.9', OWN: 'service' };
  const env = [
    { name: 'URL', value: 'http://$(WEB_SERVICE_HOST)' },
    { name: 'BEFORE', value: '$(OWN)' },
    { name: 'OWN', value: 'mine' },
    { name: 'AFTER', value: '$(OWN)' },
  ];
  assert.deepEqual(environment({ env }, { services }), [
    ...['URL=http://10.0.0.9', 'BEFORE=service', 'OWN=mine', 'AFTER=mine', 'WEB_SERVICE_HOST=10.0.0.9'],
  ]);
});

test('variables may reference earlier ones, and the last one of a name is used', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '$(A)-$(C)-$$(A)' },
    { name: 'C', value: '3' },
    { name: 'A', value: '$(A)1' },
    { name: 'NONE' },
  ];
  assert.deepEqual(environment({ env }), ['A=11', 'B=1-$(C)-$(A)', 'C=3', 'NONE=']);
});

test('envFrom comes first, sorted by key, later sources take precedence, and env overrides all', () => {
  const configMapRef = { name: 'c' };
  assert.deepEqual(
    environment({
      envFrom: [{ configMapRef }, { secretRef: { name: 'none', optional: true } }, { prefix: 'P_', configMapRef }],
      env: [
        { name: 'a', value: 'own' },
        { name: 'sum', value: '$(b)$(P_a)' },
      ],
    }),
    ['a=own', 'b=2', 'ref=$(a)', 'P_a=1', 'P_b=2', 'P_ref=$(a)', 'sum=21'],
  );
});

test('pod fields, addresses and resources become values', () => {
  const field = (fieldPath: string) => ({ name: fieldPath, valueFrom: { fieldRef: { fieldPath } } });
  const resource = (name: string, resource: string, divisor?: string) => ({
    name,
    valueFrom: { resourceFieldRef: { resource, divisor } },
  });
  assert.deepEqual(
    environment({
      resources: { limits: { memory: '100Mi' }, requests: { cpu: '1500m' } },
      env: [
        ...['metadata.name', "metadata.labels['app']", "metadata.labels['none']", 'spec.nodeName', 'status.podIP'].map(
          field,
        ),
        ...['status.podIPs', 'status.hostIP'].map(field),
        resource('mem', 'limits.memory', '1Mi'),
        resource('cpu', 'requests.cpu'),
        resource('node', 'limits.cpu'),
        resource('none', 'requests.memory'),
      ],
    }),
    [
      'metadata.name=p',
      "metadata.labels['app']=x",
      "metadata.labels['none']=",
      'spec.nodeName=n',
      'status.podIP=10.0.0.2',
      'status.podIPs=10.0.0.2,fd00::2',
      'status.hostIP=192.0.2.1',
      'mem=100',
      'cpu=2',
      'node=2',
      'none=0',
    ],
  );
});

test('a host network pod has the host’s address', () => {
  const env = [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }];
  assert.deepEqual(environment({ env }, { spec: { hostNetwork: true }, podIps: [] }), ['IP=192.0.2.1']);
});

test('ConfigMap and Secret keys become values, and optional ones may be missing', () => {
  const env = [
    { name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'a' } } },
    { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'a' } } },
    { name: 'X', valueFrom: { secretKeyRef: { name: 's', key: 'none', optional: true } } },
    { name: 'Y', valueFrom: { configMapKeyRef: { name: 'none', key: 'a', optional: true } } },
  ];
  assert.deepEqual(environment({ env }), ['A=1', 'S=s3cret']);
});

test('errors name the missing object, key or container', () => {
  const table: [Partial<Container>, RegExp][] = [
    [{ envFrom: [{ configMapRef: { name: 'none' } }] }, /^configmap "none" not found$/],
    [
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'b' } } }] },
      /^couldn't find key b in Secret default\/s$/,
    ],
    [{ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'raw' } } }] }, /is not text/],
    [
      { env: [{ name: 'A', valueFrom: { resourceFieldRef: { containerName: 'z', resource: 'limits.cpu' } } }] },
      /no container "z"/,
    ],
  ];
  for (const [fields, message] of table)
    assert.throws(() => environment(fields), { code: 'failed_precondition', message });
});

const FILE = "# written at the start\n\n  A='1' # first\nB='two\nlines' \nC= 'x'\nA='2'\n";

test('values come from files written by containers', () => {
  const fileKeyRef = (key: string, optional?: boolean) => ({
    name: key,
    valueFrom: { fileKeyRef: { volumeName: 'v', path: 'd/env', key, optional } },
  });
  const files: [string, string][] = [['v/d/env', FILE]];
  assert.deepEqual(environment({ env: ['A', 'B'].map((key) => fileKeyRef(key)) }, { files }), ['A=1', 'B=two\nlines']);
  assert.deepEqual(environment({ env: ['C', 'D'].map((key) => fileKeyRef(key, true)) }, { files }), []);
  assert.deepEqual(environment({ env: [fileKeyRef('A', true)] }), [], 'without the file');
  for (const key of ['C', 'D'])
    assert.throws(() => environment({ env: [fileKeyRef(key)] }, { files }), /environment variable key ".*" not found/);
});

test('a syntax error in an environment file names its line, unless the key precedes it', () => {
  const check = (text: string, message: RegExp) =>
    assert.throws(() => parseEnvironmentFile(`A='1'\n${text}\n`, 'B'), { code: 'failed_precondition', message });
  check('B', /line 2: missing '='/);
  check("='1'", /line 2: empty variable name/);
  check("B ='1'", /line 2: whitespace before '=' is not allowed/);
  check('B=1', /line 2: value must be enclosed in single quotes/);
  check('B=', /line 2: value must be enclosed in single quotes/);
  check("C='x\n\ny' z", /line 4: unexpected content after closing quote/);
  check("B='x\n\n", /line 2: unclosed single quote/);
  assert.equal(parseEnvironmentFile("A='1'\nwrong", 'A'), '1');
  assert.equal(parseEnvironmentFile("A='$(B) \\n'\r\n", 'A'), '$(B) \\n', 'nothing is special in quotes');
});

test('a container sees its source’s annotations, but no host path', () => {
  const env = ['podwright.dev/config.file', 'kubernetes.io/config.source'].map((key) => ({
    name: key,
    valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${key}']` } },
  }));
  const annotations = { 'podwright.dev/config.file': '/root/m.yaml', 'kubernetes.io/config.source': 'file' };
  assert.deepEqual(environment({ env }, { annotations }), [
    'podwright.dev/config.file=',
    'kubernetes.io/config.source=file',
  ]);
});
