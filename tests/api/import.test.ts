/** When a Kubernetes API is enabled on a node, the node's existing objects are moved into the API. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { AppliedObjects } from '../../packages/node-api/src/applied-objects.ts';
import { buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

const CHILD = new URL('import-child.fixture.ts', import.meta.url).pathname;
const STAGES = [
  ...['import/read', 'import/begun', 'record/begun', 'record/written', 'record/committed', 'import/stored'],
  ...['import/file-removed', 'import/moved'],
];

const POD = 'metadata: {name: web, labels: {a: b}, annotations: {c: d}}\nspec: {containers: [{name: m, image: x}]}';
const MANIFEST = `
apiVersion: v1
kind: Pod
${POD}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: team-a}
data: {key: value}
---
apiVersion: v1
kind: Secret
metadata: {name: password}
stringData: {key: word}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`;

type Found = { kind: string; metadata: { name: string; uid: string; creationTimestamp: string }; spec: object };

async function appliedBefore(context: TestContext): Promise<{ directory: string; uid: string | undefined }> {
  const directory = mkdtempSync('/tmp/import-');
  context.after(() => rmSync(directory, { recursive: true }));
  const none = { podOfUid: () => undefined, wantedPod: () => undefined };
  const { done } = await new AppliedObjects(join(directory, 'manifests'), none).apply(MANIFEST);
  mkdirSync(join(directory, 'kubelet/claims/default/bare'), { recursive: true });
  return { directory, uid: done.find(({ kind }) => kind === 'Pod')?.uid };
}

function move(directory: string, ...stage: string[]): { signal: string | null; objects: Found[] } {
  const { signal, stdout, stderr } = spawnSync(process.execPath, [CHILD, directory, ...stage], { encoding: 'utf8' });
  if (signal === null) assert.equal(stderr, '');
  return { signal, objects: signal === null ? JSON.parse(stdout) : [] };
}

const shown = (objects: Found[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
const identities = (objects: Found[]) => objects.map(({ kind, metadata: { name, uid } }) => `${kind} ${name} ${uid}`);

suite('the objects of a node without the API', () => {
  for (const stage of STAGES)
    test(`a crash at ${stage} neither loses nor doubles any`, async (context) => {
      const { directory, uid } = await appliedBefore(context);
      assert.equal(move(directory, stage).signal, 'SIGKILL');
      const { objects } = move(directory);
      assert.deepEqual(
        shown(objects).filter((one) => !one.startsWith('PersistentVolume ')),
        [
          ...['Namespace default', 'Namespace team-a', 'Pod web', 'ConfigMap settings', 'Secret password'],
          ...['PersistentVolumeClaim bare', 'PersistentVolumeClaim data'],
        ],
      );
      assert.equal(objects.find(({ kind }) => kind === 'Pod')?.metadata.uid, uid);
      assert.deepEqual(readdirSync(join(directory, 'manifests')), []);
      assert.deepEqual(identities(move(directory).objects), identities(objects));
    });

  test('a file whose name is used by a different object is set aside', async (context) => {
    const { directory } = await appliedBefore(context);
    move(directory);
    const none = { podOfUid: () => undefined, wantedPod: () => undefined };
    await new AppliedObjects(join(directory, 'manifests'), none).apply(MANIFEST.replace('image: x', 'image: other'));
    const { objects } = move(directory);
    assert.match(JSON.stringify(objects.find(({ kind }) => kind === 'Pod')?.spec), /"image":"x"/);
    assert.ok(readdirSync(join(directory, 'aside')).includes('applied-pod_default_web.json'));
  });
});

const JOB = podManifest('job', 'echo ran', '  restartPolicy: Never\n');
const API = '[api]\nenabled = true\n';
const CLAIMING = `apiVersion: v1
kind: Pod
metadata: {name: keeper}
spec:
  containers:
  - {name: main, image: "${exampleImage}", command: [sh, -c, '${forever.replaceAll('"', '\\"')}'], volumeMounts: [{name: data, mountPath: /data}]}
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
`.replaceAll('\\"', '"');

async function killed(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

suite('a node that gets the API', async () => {
  const bundle = await buildBundle();
  const place = new NodePlace(bundle, '10.129.218.0/24', { hasApi: false });
  after(async () => {
    await place.remove();
    bundle.remove();
  });
  const identity = ({ metadata, status }: Pod) => [
    ...[metadata.name, metadata.uid, metadata.creationTimestamp, metadata.labels?.tier, metadata.annotations?.note],
    ...(status?.containerStatuses ?? []).map(({ containerID, restartCount }) => `${containerID} ${restartCount}`),
  ];
  const pods = async () => (await place.pods()).map(identity).sort();

  test('keeps its pods running without a restart, along with their objects', async () => {
    const old = await place.startDaemon();
    await place.loadImage();
    const web = podManifest('web', forever);
    await place.ok(
      'apply',
      place.file('all.yaml', `${web}---\n${JOB}---\n${CLAIMING}---\n${MANIFEST.split('---')[1]}`),
    );
    await place.ok('wait', '--for=condition=Ready', 'web', 'keeper');
    await place.ok('wait', '--for=jsonpath={.status.phase}=Succeeded', 'job');
    await place.ok('label', 'web', 'tier=front');
    await place.ok('annotate', 'web', 'note=a');
    const before = await pods();
    await killed(old.child);
    const daemon = await place.startDaemon('--config', place.file('api.toml', API), 'node');
    await place.until(
      async () => (await place.pods()).filter(({ status }) => status?.phase === 'Running').length === 2,
    );
    assert.deepEqual(await pods(), before);
    assert.equal(await place.ok('get', 'cm', 'settings', '-n', 'team-a', '-o', 'jsonpath={.data.key}'), 'value');
    assert.match(await place.ok('get', 'pvc', 'data'), /Bound/);
    assert.deepEqual(readdirSync(place.path('root/manifests')), []);
    assert.match(await place.ok('apply', place.path('input/all.yaml')), /^pod default\/web unchanged$/m);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    assert.deepEqual(await pods(), before);
    await killed(daemon.child);
  });

  test('does not start without the API, which has its objects', async () => {
    const { code, err } = await place.call('--api', 'false', 'node');
    assert.equal(code, 1);
    assert.match(
      err,
      /the objects of this node are in its Kubernetes API: remove enabled = false .* remove \S+\/api-server/,
    );
  });
});
