/** An admission webhook in a pod behind a Service, on a standalone node with a Kubernetes API. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { Certificates } from '../fixtures/certificates.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.236.0/24', { hasApi: true });
  await place.startDaemon();
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

/** Source of a webhook server that labels ConfigMaps and rejects those with the key `forbidden`. */
const SERVER = `
const { readFileSync } = require('node:fs');
const [cert, key] = ['hook.crt', 'hook.key'].map((name) => readFileSync(__dirname + '/' + name));
require('node:https').createServer({ cert, key }, (request, response) => {
  let text = '';
  request.on('data', (chunk) => { text += chunk; });
  request.on('end', () => {
    const { apiVersion, kind, request: { uid, object } } = JSON.parse(text);
    const operations = [{ op: 'add', path: '/metadata/labels', value: { 'seen-by': 'hook' } }];
    const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
    const allowed = object.data?.forbidden === undefined;
    const verdict = allowed ? { allowed, patchType: 'JSONPatch', patch } : { allowed, status: { message: 'it is forbidden' } };
    response.end(JSON.stringify({ apiVersion, kind, response: { uid, ...verdict } }));
  });
}).listen(8443);
`;

const manifests = (caBundle: string) => `
apiVersion: v1
kind: Pod
metadata: {name: hook, labels: {app: hook}}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: host, hostPath: {path: /}}]
  containers:
  - name: main
    image: "${exampleImage}"
    command: [chroot, /host, ${process.execPath}, ${place.path('hook/server.cjs')}]
    volumeMounts: [{name: host, mountPath: /host, readOnly: true}]
    readinessProbe: {tcpSocket: {port: 8443}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: hook}
spec: {selector: {app: hook}, ports: [{port: 443, targetPort: 8443}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: hook}
webhooks:
- name: hook.example.com
  clientConfig: {caBundle: ${caBundle}, service: {name: hook, namespace: default, path: /mutate}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  sideEffects: None
  admissionReviewVersions: [v1]
`;

const configMap = (name: string, data: string) =>
  place.file(`${name}.yaml`, `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {${data}}\n`);

test('a webhook in a pod is called at an endpoint of its Service, and mutates and rejects objects', async () => {
  mkdirSync(place.path('hook'));
  const certificates = new Certificates(place.path('hook'));
  await certificates.makeAuthority('authority');
  await certificates.make('hook', 'authority', 'DNS:hook.default.svc');
  place.file('../hook/server.cjs', SERVER);
  const caBundle = certificates.read('authority.crt').toString('base64');
  const started = await place.call('run', '--detach', place.file('hook.yaml', manifests(caBundle)));
  assert.equal(started.code, 0, started.err);
  using signal = withTimeout(undefined, 60_000, 'wait for the webhook');
  const applied = await waitFor(
    async () => {
      const result = await place.call('apply', configMap('one', 'a: b'));
      return result.code === 0 ? result : undefined;
    },
    { intervalMs: 200, signal },
  );
  assert.equal(applied.code, 0, applied.err);
  const { out } = await place.call('get', 'configmap', 'one', '-o', 'json');
  assert.deepEqual(JSON.parse(out).metadata.labels, { 'seen-by': 'hook' });
  const refused = await place.call('apply', configMap('two', 'forbidden: x'));
  assert.equal(refused.code, 1);
  assert.match(refused.err, /admission webhook "hook\.example\.com" denied the request: it is forbidden/);
});

test('requests fail while the webhook’s pod does not exist, until its configuration is deleted', async () => {
  await place.call('delete', 'pod', 'hook');
  const failed = await place.call('apply', configMap('three', 'a: b'));
  assert.equal(failed.code, 1);
  assert.match(
    failed.err,
    /failed calling webhook "hook\.example\.com": failed to call webhook: Post "https:\/\/hook\.default\.svc:443\/mutate/,
  );
  assert.equal((await place.call('delete', 'mutatingwebhookconfiguration', 'hook')).code, 0);
  assert.equal((await place.call('apply', configMap('three', 'a: b'))).code, 0);
});
