/** Pods with user namespaces, from the kubelet on Podwright's runtime. Requires root. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { type RealKubelet, startRealKubelet } from '../kubelet/real-kubelet.fixture.ts';

const runtime = new RuntimeUnderTest();
let kubelet: RealKubelet;
before(async () => {
  await runtime.start();
  const { options, logs } = runtime.place;
  mkdirSync(logs, { recursive: true });
  const endpoint = `unix://${options.socket}`;
  kubelet = await startRealKubelet({ endpoint, scratch: logs, bridge: options.network.bridge });
});
after(async () => {
  await kubelet.close();
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

/** Returns a pod with an image volume, in which an init container writes files that the other container reads. */
const manifest = (script: string) => `
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  hostUsers: false
  hostnameOverride: db.example.org
  terminationGracePeriodSeconds: 0
  securityContext: {sysctls: [{name: net/ipv4/tcp_keepalive_time, value: "600"}], supplementalGroupsPolicy: Strict}
  volumes:
  - {name: disk, emptyDir: {}}
  - {name: model, image: {reference: '${runtime.image}', pullPolicy: Never}}
  initContainers:
  - name: write
    image: ${runtime.image}
    imagePullPolicy: Never
    command: [sh, -c, "echo \\"A='from a file'\\" > /disk/env"]
    volumeMounts: [{name: disk, mountPath: /disk}]
  containers:
  - name: app
    image: ${runtime.image}
    imagePullPolicy: Never
    command: [sh, -c, ${JSON.stringify(script)}]
    env: [{name: A, valueFrom: {fileKeyRef: {volumeName: disk, path: env, key: A}}}]
    securityContext: {procMount: Unmasked}
    volumeMounts:
    - {name: disk, mountPath: /disk, readOnly: true, recursiveReadOnly: IfPossible}
    - {name: model, mountPath: /model}
    - {name: model, mountPath: /programs, subPath: bin}
`;

test('a pod with a user namespace owns its volumes, and keeps its IDs across a kubelet restart', async () => {
  const script = [
    'cat /proc/self/uid_map | xargs; echo $A; hostname; cat /proc/sys/net/ipv4/tcp_keepalive_time',
    'stat -c %u /disk/env /etc/hosts /model /dev/termination-log | sort -u',
    'test -x /programs/busybox && echo programs; touch /model/x 2>/dev/null || echo read-only',
    'grep -q /proc/timer_list /proc/mounts || echo unmasked; exec sleep 1000',
  ].join('; ');
  await kubelet.apply('p.yaml', manifest(script));
  const pod = await kubelet.pod('p', ({ status }) => status?.phase === 'Running');
  const { path } = kubelet.handle.containerLog(pod, { container: 'app', previous: false });
  const lines = async () => (await readFile(path, 'utf8')).trimEnd().split('\n');
  await kubelet.until('the script has finished', async () => (await lines()).at(-1)!.endsWith('unmasked'));
  const [map, ...rest] = (await lines()).map((line) => line.replace(/^\S+ \S+ F /, ''));
  assert.deepEqual(rest, ['from a file', 'db.example.org', '600', '0', 'programs', 'read-only', 'unmasked']);
  const file = join(kubelet.options.rootDir, 'pods', pod.metadata.uid, 'userns');
  const [mapping] = JSON.parse(await readFile(file, 'utf8')).uidMappings;
  assert.equal(map, `0 ${mapping.hostId} ${mapping.length}`);
  await kubelet.restart();
  const again = await kubelet.pod('p', ({ status }) => status?.phase === 'Running');
  assert.equal(again.status?.containerStatuses?.[0]?.restartCount, 0);
  assert.equal(JSON.parse(await readFile(file, 'utf8')).uidMappings[0].hostId, mapping.hostId);
});
