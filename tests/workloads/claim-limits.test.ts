/** Capacity limits of claims that are stored in directories, on a standalone node with a Kubernetes API. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';
import { NodeApi } from './csi-sidecars.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
let api: NodeApi;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.214.0/24', { hasApi: true });
  daemon = await place.startDaemon();
  await place.loadImage();
  api = new NodeApi(place.path('state/apiserver.sock'));
});
after(async () => {
  daemon?.child.kill('SIGTERM');
  await place.remove();
  bundle.remove();
});

const CLAIM = '/api/v1/namespaces/default/persistentvolumeclaims/data';
const claim =
  'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n' +
  'spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}\n';
const pod = (name: string, command: string, readOnly = false) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  terminationGracePeriodSeconds: 0\n` +
  `  volumes: [{name: files, persistentVolumeClaim: {claimName: data, readOnly: ${readOnly}}}]\n` +
  `  containers: [{name: main, image: "${exampleImage}", command: [sh, -c, "${command}; sleep 10000"], volumeMounts: [{name: files, mountPath: /data}]}]\n`;
const get = (name: string) => api.get(`/api/v1/namespaces/default/pods/${name}`);
const isRunning = async (name: string) => (await get(name))?.status?.phase === 'Running';

test('a pod that fills its claim is evicted, and others wait until the claim is expanded', async () => {
  const fill = 'head -c 41943040 /dev/zero > /data/file';
  await place.ok('apply', place.file('fill.yaml', [claim, pod('filler', fill)].join('---\n')));
  await place.until(async () => (await get('filler'))?.status?.reason === 'Evicted', 120_000);
  const { message } = (await get('filler'))!.status;
  assert.match(message, /^Usage of the claim "data" \(volume "files"\) is 4\d.*i, more than its capacity 1Mi\. $/);
  await place.ok('apply', place.file('next.yaml', pod('next', 'true')));
  await place.until(async () => /Expand or delete the claim/.test(await place.ok('events')));
  assert.equal(await isRunning('next'), false);
  await place.ok('apply', place.file('reader.yaml', pod('reader', 'true', true)));
  await place.until(() => isRunning('reader'));
  await api.patch(CLAIM, { spec: { resources: { requests: { storage: '1Gi' } } } });
  await place.until(() => isRunning('next'));
});
