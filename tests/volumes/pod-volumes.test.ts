/** Volumes, environment and hosts file in a real container, on Debian's containerd. Requires root. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { ProgramMounter } from '../../packages/volumes/src/volumes/mounter.ts';
import { busyboxImage } from '../kubelet/containerd.fixture.ts';
import { type RealKubelet, startRealKubelet } from '../kubelet/real-kubelet.fixture.ts';
import { type RestartableRuntime, startOtherRuntime } from '../kubelet/suite-runtime.fixture.ts';

let runtime: RestartableRuntime;
before(async () => {
  runtime = await startOtherRuntime('vol');
});
after(() => runtime.stop());

async function start(context: TestContext): Promise<RealKubelet> {
  const kubelet = await startRealKubelet(runtime);
  context.after(() => kubelet.close());
  return kubelet;
}

const objects = (page: string) => `
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {page: ${page}, mode: fast}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {token: s3cret}
`;

const podText = (script: string) => `
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: web}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  hostAliases: [{ip: 192.0.2.7, hostnames: [friend]}]
  securityContext: {fsGroup: 4321}
  volumes:
  - {name: disk, emptyDir: {}}
  - {name: memory, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
  - {name: conf, configMap: {name: conf}}
  - {name: secret, secret: {secretName: key, defaultMode: 0400}}
  - name: all
    projected:
      sources:
      - {secret: {name: key, items: [{key: token, path: keys/token}]}}
      - {downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
  containers:
  - name: app
    image: ${busyboxImage}
    command: [sh, -c, ${JSON.stringify(script)}, sh, '$(NAME)-$(MODE)-$$(NAME)']
    envFrom: [{prefix: C_, configMapRef: {name: conf}}]
    env:
    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: MODE, value: $(C_mode)er}
    - {name: TOKEN, valueFrom: {secretKeyRef: {name: key, key: token}}}
    volumeMounts:
    - {name: disk, mountPath: /disk}
    - {name: disk, mountPath: /part, subPathExpr: sub/$(NAME)}
    - {name: memory, mountPath: /memory}
    - {name: conf, mountPath: /conf}
    - {name: conf, mountPath: /one-page, subPath: page}
    - {name: secret, mountPath: /secret}
    - {name: all, mountPath: /all}
`;

test('a container has its volumes, environment and hosts file, and nothing of them is left behind', async (context) => {
  const kubelet = await start(context);
  const script = [
    'echo "$1"; echo $TOKEN $C_page',
    'cat /conf/page /one-page; echo; cat /secret/token /all/keys/token; echo; cat /all/labels; echo',
    'echo here > /part/file; cat /disk/sub/p/file; stat -c %g /part/file',
    'touch /conf/x 2>/dev/null || echo read-only; dd if=/dev/zero of=/memory/big bs=1k count=2000 2>/dev/null || echo full',
    'grep -c friend /etc/hosts; grep -w p /etc/hosts | cut -f2; echo bye > /dev/termination-log',
  ].join('; ');
  await kubelet.apply('p.yaml', podText(script) + objects('hello'));
  const pod = await kubelet.pod('p', ({ status }) => status?.phase === 'Succeeded');
  assert.deepEqual(await kubelet.log(pod), [
    'p-faster-$(NAME)',
    's3cret hello',
    'hellohello',
    's3crets3cret',
    'app="web"',
    'here',
    '4321',
    'read-only',
    'full',
    '1',
    'p',
  ]);
  assert.equal(pod.status?.containerStatuses?.[0]?.state.terminated?.message?.trim(), 'bye');
  await kubelet.remove('p.yaml');
  await kubelet.until('the pod is removed', () => kubelet.handle.pods().length === 0);
  const pods = join(kubelet.options.rootDir, 'pods');
  assert.deepEqual(await readdir(pods), []);
  assert.deepEqual(await new ProgramMounter().mountsBelow(pods), []);
});

test('a changed ConfigMap is visible in a running container without a restart', async (context) => {
  const kubelet = await start(context);
  const script = 'cat /conf/page; echo; until grep -q new /conf/page; do sleep 0.05; done; cat /conf/page; echo';
  await kubelet.apply('p.yaml', podText(script));
  await kubelet.apply('objects.yaml', objects('old'));
  const running = await kubelet.pod('p', ({ status }) => status?.phase === 'Running');
  await kubelet.until('the first page is read', async () => (await kubelet.log(running)).includes('old'));
  await kubelet.apply('objects.yaml', objects('new'));
  const pod = await kubelet.pod('p', ({ status }) => status?.phase === 'Succeeded');
  assert.deepEqual(await kubelet.log(pod), ['old', 'new']);
  assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
});

test('a pod with a missing ConfigMap waits with an event, and starts once it exists', async (context) => {
  const kubelet = await start(context);
  await kubelet.apply('p.yaml', podText('echo ok'));
  const reported = () =>
    kubelet.handle
      .events()
      .some(
        ({ reason, message }) =>
          reason === 'FailedMount' &&
          message === 'MountVolume.SetUp failed for volume "conf" : configmap "conf" not found',
      );
  await kubelet.until('the missing object is reported', reported);
  await kubelet.apply('objects.yaml', objects('hello'));
  await kubelet.pod('p', ({ status }) => status?.phase === 'Succeeded');
});

test('a pod that exceeds an emptyDir limit is evicted with the reason', async (context) => {
  const kubelet = await start(context);
  const manifest = (name: string, sizeLimit: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  volumes: [{name: scratch, emptyDir: {sizeLimit: ${sizeLimit}}}]
  containers:
  - name: app
    image: ${busyboxImage}
    command: [sh, -c, 'head -c 2097152 /dev/zero > /scratch/file; exec sleep 1000']
    volumeMounts: [{name: scratch, mountPath: /scratch}]
`;
  await kubelet.apply('big.yaml', manifest('big', '1Mi'));
  await kubelet.apply('small.yaml', manifest('small', '4Mi'));
  const { status } = await kubelet.pod('big', ({ status }) => status?.phase === 'Failed');
  assert.equal(status?.reason, 'Evicted');
  assert.equal(status?.message, 'Usage of EmptyDir volume "scratch" exceeds the limit "1Mi". ');
  await kubelet.pod('small', ({ status }) => status?.phase === 'Running');
});
