/**
 * Images and mounts cannot override restrictions of a pod's manifest: root in a container that must not run as root (CVE-2019-11245),
 * writing to files that the node generated (CVE-2017-1002102).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.99.142.0/24');
  daemon = await place.startDaemon();
  await place.loadImage();
});
after(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.ended();
  await place.remove();
  bundle.remove();
});

const pod = (name: string, spec: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  terminationGracePeriodSeconds: 0\n${spec}`;

const statusOf = async (name: string) =>
  (await place.pods()).find(({ metadata }) => metadata.name === name)?.status?.containerStatuses?.[0];

test('an image with the user root does not run with runAsNonRoot', async () => {
  const spec = `  securityContext: {runAsNonRoot: true}
  containers: [{name: main, image: "${exampleImage}", command: [sh, -c, id]}]\n`;
  const run = place.start('run', '--detach', '--timeout', '60s', place.file('root.yaml', pod('root', spec)));
  const reason = async () => (await statusOf('root'))?.state.waiting?.reason;
  await place.until(async () => (await reason()) === 'CreateContainerConfigError');
  const { waiting } = (await statusOf('root'))!.state;
  assert.match(waiting!.message!, /runAsNonRoot and image will run as root/);
  assert.equal((await statusOf('root'))!.restartCount, 0);
  run.child.kill('SIGINT');
  await run.ended();
  await place.call('delete', 'root');
});

test('a ConfigMap that a container mounts writable stays unchanged', async () => {
  const spec = `  volumes: [{name: conf, configMap: {name: conf}}]
  containers:
  - name: main
    image: ${exampleImage}
    command: [sh, -c, "exec 2>&1; echo changed > /conf/page; rm -f /conf/page; touch /conf/new; mount -o remount,rw /conf; echo done; cat /conf/page; exec sleep 1000"]
    volumeMounts: [{name: conf, mountPath: /conf, readOnly: false}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {page: as it was}\n`;
  await place.ok('run', '--detach', place.file('conf.yaml', pod('conf', spec)));
  await place.until(async () => (await place.ok('logs', 'conf')).includes('as it was'));
  const log = await place.ok('logs', 'conf');
  assert.match(log, /Read-only file system.*done\nas it was$/ms);
  const { uid } = (await place.pods()).find(({ metadata }) => metadata.name === 'conf')!.metadata;
  const volume = place.path(`root/kubelet/pods/${uid}/volumes/kubernetes.io~configmap/conf`);
  assert.equal(readFileSync(`${volume}/page`, 'utf8'), 'as it was');
  await place.ok('delete', 'conf');
});
