/** An extension API server in a pod behind a Service, on a standalone node with a Kubernetes API. */
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
  place = new NodePlace(bundle, '10.172.221.0/24', { hasApi: true });
  await place.startDaemon();
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

/**
 * Source of an extension API server. It only accepts clients with a certificate from the CA in the ConfigMap, and serves a single object,
 * which shows the name of the requesting user.
 */
const SERVER = `
const { readFileSync } = require('node:fs');
const [cert, key] = ['server.crt', 'server.key'].map((name) => readFileSync(__dirname + '/' + name));
const group = 'things.example';
const verbs = ['get', 'list'];
const responseKind = { group, version: 'v1', kind: 'Thing' };
const resources = [{ resource: 'things', responseKind, scope: 'Cluster', singularResource: 'thing', verbs }];
const list = [{ name: 'things', singularName: 'thing', namespaced: false, kind: 'Thing', verbs }];
const tls = { cert, key, ca: process.env.AUTHORITY, requestCert: true, rejectUnauthorized: true };
require('node:https').createServer(tls, ({ url, headers, socket }, response) => {
  const { CN } = socket.getPeerCertificate().subject;
  const path = url.split('?')[0];
  const data = { user: headers['x-remote-user'], groups: headers['x-remote-group'], client: CN };
  const thing = { apiVersion: group + '/v1', kind: 'Thing', metadata: { name: 'one' }, data };
  const documents = {
    '/apis': { kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: group }, versions: [{ version: 'v1', resources }] }] },
    ['/apis/' + group + '/v1']: { kind: 'APIResourceList', groupVersion: group + '/v1', resources: list },
    ['/apis/' + group + '/v1/things']: { apiVersion: group + '/v1', kind: 'ThingList', metadata: {}, items: [thing] },
    ['/apis/' + group + '/v1/things/one']: thing,
  };
  const isAggregated = path === '/apis';
  const type = isAggregated ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' : 'application/json';
  response.writeHead(documents[path] === undefined ? 404 : 200, { 'content-type': type });
  response.end(JSON.stringify(documents[path] ?? {}));
}).listen(8443);
`;

const manifests = (caBundle: string) => `
apiVersion: v1
kind: Pod
metadata: {name: extension, namespace: kube-system, labels: {app: extension}}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: host, hostPath: {path: /}}]
  containers:
  - name: main
    image: "${exampleImage}"
    command: [chroot, /host, ${process.execPath}, ${place.path('extension/server.cjs')}]
    env:
    - name: AUTHORITY
      valueFrom: {configMapKeyRef: {name: extension-apiserver-authentication, key: requestheader-client-ca-file}}
    volumeMounts: [{name: host, mountPath: /host, readOnly: true}]
    readinessProbe: {tcpSocket: {port: 8443}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: extension, namespace: kube-system}
spec: {selector: {app: extension}, ports: [{port: 443, targetPort: 8443}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.things.example}
spec:
  group: things.example
  version: v1
  service: {name: extension, namespace: kube-system}
  caBundle: ${caBundle}
  groupPriorityMinimum: 1000
  versionPriority: 15
`;

/** Repeats a podwright command until its output is as expected; returns the output. */
async function until(args: string[], isExpected: (out: string, err: string) => boolean): Promise<string> {
  using signal = withTimeout(undefined, 60_000, `wait for podwright ${args.join(' ')}`);
  const probe = async () => {
    const { out, err } = await place.call(...args);
    return isExpected(out, err) ? out : undefined;
  };
  return waitFor(probe, { intervalMs: 200, signal });
}

const reasonIs = (reason: string) => (out: string) =>
  out !== '' && JSON.parse(out).status?.conditions?.[0]?.reason === reason;

test('the API serves the objects of an extension API server running in a pod', async () => {
  mkdirSync(place.path('extension'));
  const certificates = new Certificates(place.path('extension'));
  await certificates.makeAuthority('authority');
  await certificates.make('server', 'authority', 'DNS:extension.kube-system.svc');
  place.file('../extension/server.cjs', SERVER);
  const caBundle = certificates.read('authority.crt').toString('base64');
  const applied = await place.call('apply', place.file('extension.yaml', manifests(caBundle)));
  assert.equal(applied.code, 0, applied.err);
  await until(['get', 'apiservice', 'v1.things.example', '-o', 'json'], reasonIs('Passed'));
  const thing = await until(['get', 'things', 'one', '-o', 'json'], (out) => out !== '');
  const { user, groups, client } = JSON.parse(thing).data;
  assert.deepEqual([user, client], ['system:admin', 'front-proxy-client']);
  assert.match(groups, /^system:masters/);
});

test('requests are refused while the pod does not exist, until the APIService is deleted', async () => {
  await place.call('delete', 'pod', 'extension', '-n', 'kube-system');
  await until(['get', 'apiservice', 'v1.things.example', '-o', 'json'], reasonIs('MissingEndpoints'));
  const refused = await place.call('get', 'things', 'one');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /unable to handle the request|service unavailable/);
  assert.equal((await place.call('get', 'configmaps')).code, 0, 'other kinds are not concerned');
  assert.equal((await place.call('delete', 'apiservice', 'v1.things.example')).code, 0);
  await until(['get', 'things', 'one'], (_, err) => err !== '' && !/unable to handle|unavailable/.test(err));
});
