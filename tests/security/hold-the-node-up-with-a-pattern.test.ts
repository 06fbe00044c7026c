/** Text in manifests and Secrets that could make a regular expression or an expansion take forever or grow without bound. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeManifest } from '../../packages/kube-api/src/manifest/manifest.ts';
import { LocalObjects } from '../../packages/kube-api/src/objects/local-objects.ts';
import type { Container } from '../../packages/kube-api/src/objects/types.ts';
import { parseImageReference } from '../../packages/kube-api/src/values/image-reference.ts';
import { isQuantity } from '../../packages/kube-api/src/values/quantity.ts';
import { makeEnvironment } from '../../packages/kubelet/src/container/environment.ts';
import { expand } from '../../packages/kubelet/src/container/expansion.ts';
import { entriesFor, parseDockerConfig } from '../../packages/kubelet/src/images/keyring.ts';
import { parseResolvConf } from '../../packages/kubelet/src/node/resolv-conf.ts';

/** Time limit in ms for handling each text, which takes milliseconds on a fast host; with backtracking, it would take minutes or years. */
const PATIENCE_MS = 3000;

function quickly<T>(what: string, work: () => T): T {
  const startedAtMs = performance.now();
  const result = work();
  const tookMs = performance.now() - startedAtMs;
  assert.ok(tookMs < PATIENCE_MS, `${what} took ${tookMs} ms`);
  return result;
}

/** Number of repetitions before a mismatch at the end, which would trigger backtracking. */
const REPEATS = 500_000;
const hostile = [
  'a',
  'a.',
  'a-',
  '-',
  'a/',
  'a:',
  '_',
  '0',
  '1e',
  'A',
  '$(',
  '.',
  '/',
  ' ',
  '\0',
  '@',
  '[',
  "']",
].flatMap((unit) => [unit.repeat(REPEATS), `${unit.repeat(REPEATS)}!`, `x${unit.repeat(REPEATS)}\n`]);

test('arbitrary text as an image name is parsed quickly', () => {
  for (const text of hostile) quickly(`the image ${text.slice(0, 4)}`, () => parseImageReference(text));
  for (const text of hostile) quickly('a digest', () => parseImageReference(`a@${text}`));
});

test('arbitrary text as a quantity is parsed quickly', () => {
  for (const text of [...hostile, '1e999', `1e-${'9'.repeat(REPEATS)}`, `${'9'.repeat(REPEATS)}Ei`])
    quickly(`the quantity ${text.slice(0, 4)}`, () => isQuantity(text));
});

test('a host pattern with many stars in an imagePullSecret is matched quickly', () => {
  const image = parseImageReference(`${'a'.repeat(60)}.test/x`)!;
  const patterns = ['*a'.repeat(30), `${'*a'.repeat(30)}*b`, `${'*'.repeat(50_000)}b`];
  const auths = Object.fromEntries(patterns.map((pattern) => [`${pattern}.test`, { username: 'u', password: 'p' }]));
  const entries = parseDockerConfig(JSON.stringify({ auths }));
  const found = quickly('matching', () => entriesFor(image, entries));
  assert.deepEqual(
    found.map(({ pattern }) => pattern),
    [`${patterns[0]}.test`],
  );
});

test('an imagePullSecret whose credential is mostly NUL bytes is read quickly', () => {
  const auth = Buffer.concat([Buffer.alloc(REPEATS), Buffer.from('x')]).toString('base64');
  quickly('reading', () => parseDockerConfig(JSON.stringify({ auths: { 'r.test': { auth } } })));
});

test('unterminated references are expanded at once', () => {
  for (const text of hostile) quickly(`expanding ${text.slice(0, 4)}`, () => expand(text, () => undefined));
});

test('variables that double in size with each line do not exhaust the memory', () => {
  const env = Array.from({ length: 60 }, (_, at) => ({
    name: `V${at}`,
    value: at === 0 ? 'x' : `$(V${at - 1})`.repeat(2),
  }));
  const environmentOf = (container: Container) =>
    makeEnvironment({
      container,
      pod: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace: 'default', uid: 'u' },
        spec: { containers: [] },
      },
      objects: new LocalObjects(),
      files: new Map(),
      nodeAllocatable: { cpuMillis: 1n, memoryBytes: 1n, ephemeralStorageBytes: 1n },
      podIps: [],
      hostIps: [],
    });
  const refused = { code: 'failed_precondition', message: /no program takes that/ };
  assert.throws(() => quickly('doubling', () => environmentOf({ name: 'c', image: 'i', env })), refused);
  const wide = Array.from({ length: 5000 }, (_, at) => ({ name: `W${at}`, value: '$(V15)' }));
  const both = [...env.slice(0, 16), ...wide];
  assert.throws(() => quickly('copying', () => environmentOf({ name: 'c', image: 'i', env: both })), refused);
});

test('arbitrary text as a resolv.conf is parsed quickly', () => {
  for (const text of hostile)
    quickly(`resolv.conf ${text.slice(0, 4)}`, () => parseResolvConf(`search ${text}\n${text}`));
});

/** Pods with a given text in one of the fields that are validated by a pattern. */
const fields: Record<string, (text: string) => object> = {
  name: (text) => ({ metadata: { name: text } }),
  namespace: (text) => ({ metadata: { name: 'p', namespace: text } }),
  label: (text) => ({ metadata: { name: 'p', labels: { [text]: text } } }),
  annotation: (text) => ({ metadata: { name: 'p', annotations: { [text]: text } } }),
  hostname: (text) => ({ spec: { hostname: text, subdomain: text, nodeSelector: { [text]: text } } }),
  dns: (text) => ({ spec: { dnsConfig: { nameservers: [text], searches: [text] } } }),
  hostAlias: (text) => ({ spec: { hostAliases: [{ ip: text, hostnames: [text] }] } }),
  volume: (text) => ({ spec: { volumes: [{ name: text, hostPath: { path: text } }] } }),
  image: (text) => ({ container: { image: text } }),
  path: (text) => ({ container: { workingDir: text, terminationMessagePath: text } }),
  variable: (text) => ({ container: { env: [{ name: text, value: text }] } }),
  fieldRef: (text) => ({
    container: { env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: `metadata.labels['${text}` } } }] },
  }),
  port: (text) => ({ container: { ports: [{ containerPort: 1, name: text, hostIP: text }] } }),
  resource: (text) => ({ container: { resources: { limits: { memory: text, [text]: '1' } } } }),
  probe: (text) => ({ container: { livenessProbe: { httpGet: { path: text, port: text, host: text } } } }),
  header: (text) => ({
    container: { livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: text, value: text }] } } },
  }),
  mount: (text) => ({ container: { volumeMounts: [{ name: text, mountPath: text, subPath: text }] } }),
};
for (const [field, of] of Object.entries(fields)) {
  test(`a pod with any text as ${field} is validated at once`, () => {
    for (const text of hostile.map((long) => long.slice(-100_000))) {
      const { container, spec, metadata } = of(text) as { container?: object; spec?: object; metadata?: object };
      const manifest = JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: metadata ?? { name: 'p' },
        spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
      });
      const { errors } = quickly(`${field} of ${text.slice(0, 4)}`, () => decodeManifest(manifest, { file: 'x' }));
      assert.ok(errors.map(String).join('').length < 300_000);
    }
  });
}
