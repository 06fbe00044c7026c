/** Tests with a manifest that became invalid while the node was down, on an in-memory container runtime. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { startFakeKubelet } from './fake-kubelet.fixture.ts';

const podNamed = (name: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, uid: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: ${name}-app, image: 'busybox:1', ports: [{containerPort: 80, hostPort: 8080}]}
`;
const isRunning = (pod: Pod) => pod.status?.phase === 'Running';

async function start(context: TestContext, text: string) {
  const manifestDir = mkdtempSync(join(tmpdir(), 'pwk-invalid-'));
  context.after(() => rmSync(manifestDir, { recursive: true }));
  const write = (name: string, content: string) => writeFileSync(join(manifestDir, name), content);
  write('web.yaml', text);
  const kubelet = await startFakeKubelet({ manifestDir, readsDirectory: true });
  context.after(() => kubelet.close());
  return { kubelet, write, remove: (name: string) => rmSync(join(manifestDir, name)) };
}

test('a pod whose manifest is invalid at startup is managed, holds its host port, and ends with the file', async (context) => {
  const { kubelet, write, remove } = await start(context, podNamed('web'));
  await kubelet.pod('web', isRunning);
  await kubelet.handle.close();
  write('web.yaml', podNamed('web').replace('ports', 'portz'));
  await kubelet.restart();
  const { runtime } = kubelet;
  assert.equal(runtime.containers.length, 1, 'its container was not replaced');
  runtime.exitContainer(runtime.containerNamed('web-app').id, { exitCode: 1 });
  await kubelet.pod('web', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
  write('other.yaml', podNamed('other'));
  const refused = await kubelet.pod('other', ({ status }) => status?.phase === 'Failed');
  assert.match(refused.status!.message!, /port 8080\/TCP of the host is taken by pod default\/web$/);
  assert.match(
    kubelet.handle.manifestErrors().join('\n'),
    /portz: unknown field.*\n.*web\.yaml:1:1: pod default\/web stays unchanged until the file is valid/,
  );
  remove('web.yaml');
  await kubelet.until('the pod ends', () => runtime.sandboxes.length === 0);
});
