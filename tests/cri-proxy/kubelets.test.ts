/** A CRI proxy between a kubelet and containerd, and a kubelet that runs against its recording. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { criMethodNames, criMethods, parseScript, readRecording, startCriProxy } from '@podwright/cri-proxy';
import { parseEndpoint } from '@podwright/grpc';
import type { Pod } from '@podwright/kube-api';
import { startOwnRuntime } from '../kubelet/own-runtime.fixture.ts';
import { type RealKubelet, startRealKubelet } from '../kubelet/real-kubelet.fixture.ts';
import { startOtherRuntime } from '../kubelet/suite-runtime.fixture.ts';

/** A pod whose container fails once and then keeps running. */
const MANIFEST = (image: string) => `apiVersion: v1
kind: Pod
metadata: {name: twice}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: app
    image: ${image}
    command: [sh, -c, "[ -e /v/seen ] || { touch /v/seen; exit 3; }; trap 'exit 0' TERM; while :; do sleep 0.1; done"]
    env: [{name: KEY, value: hidden}]
    volumeMounts: [{name: v, mountPath: /v}]
  volumes: [{name: v, emptyDir: {}}]
`;

const runsAgain = (pod: Pod) => {
  const [status] = pod.status?.containerStatuses ?? [];
  return status?.restartCount === 1 && status.state?.running !== undefined;
};

/** Runs the pod until its second start, then removes it. Returns the exit code of its first container. */
async function runTwice(kubelet: RealKubelet, image: string): Promise<number | undefined> {
  await kubelet.apply('twice.yaml', MANIFEST(image));
  const pod = await kubelet.pod('twice', runsAgain);
  await kubelet.remove('twice.yaml');
  await kubelet.until('the pod is removed', () => kubelet.handle.pods().length === 0);
  return pod.status!.containerStatuses![0]!.lastState?.terminated?.exitCode;
}

const crashLoopBackoff = { initialMs: 100, maxMs: 1000 };

for (const [name, start] of [
  ['containerd', () => startOtherRuntime('cp')],
  ["Podwright's runtime", () => startOwnRuntime()],
] as const) {
  test(`a kubelet runs a pod on ${name} through a proxy, and another one on the recording of it`, async () => {
    const lines: string[] = [];
    const directory = mkdtempSync(join(tmpdir(), 'pwcp-'));
    const record = join(directory, 'recording.jsonl');
    const runtime = await start();
    const proxy = await startCriProxy({
      socket: join(directory, 'p.sock'),
      to: parseEndpoint(runtime.endpoint),
      logger: silentLogger,
      record,
      display: { format: 'json', bodies: true, methods: [], pods: [], write: (line) => lines.push(line) },
    });
    const kubelet = await startRealKubelet({ ...runtime, endpoint: proxy.endpoint }, { crashLoopBackoff });
    try {
      assert.equal(await runTwice(kubelet, runtime.image), 3);
    } finally {
      await kubelet.close();
      await proxy.close();
      await runtime.stop();
    }
    const calls = lines.map((line) => JSON.parse(line));
    const creates = calls.filter(({ method, code }) => method === 'CreateContainer' && code === 'OK');
    assert.deepEqual(
      new Set(creates.map(({ pod, container }) => `${pod} ${container}`)),
      new Set(['default/twice app']),
    );
    assert.doesNotMatch(lines.join(), /hidden/);
    const recording = await readRecording(record, criMethods());
    assert.deepEqual(recording.warnings, []);
    assert.equal(statSync(record).mode & 0o777, 0o600);
    await replay(recording, { directory, image: runtime.image });
    rmSync(directory, { recursive: true });
  });
}

async function replay(
  recording: Awaited<ReturnType<typeof readRecording>>,
  { directory, image }: { directory: string; image: string },
): Promise<void> {
  const proxy = await startCriProxy({ socket: join(directory, 'r.sock'), to: recording, logger: silentLogger });
  const scratch = join(directory, 'replay');
  mkdirSync(scratch);
  const bridge = `pwcpr${process.pid}`;
  const kubelet = await startRealKubelet({ bridge, scratch, endpoint: proxy.endpoint }, { crashLoopBackoff });
  try {
    assert.equal(await runTwice(kubelet, image), 3);
  } finally {
    await kubelet.close();
    await proxy.close();
  }
}

test('a script delays, fails and loses calls from a kubelet, whose pod still runs', async () => {
  const runtime = await startOwnRuntime();
  const text = `
rules:
- {method: RunPodSandbox, pod: default/twice, count: 1, fail: {code: deadline_exceeded, message: too slow, when: after}}
- {method: CreateContainer, count: 1, cut: connection}
- {method: StartContainer, count: 1, repeat: 1}
- {method: ListPodSandbox, probability: 0.2, fail: unavailable}
- {method: ContainerStatus, delay: 20ms, jitter: 20ms}
`;
  const script = parseScript(text, { name: 'script', methods: criMethodNames() });
  const socket = join(runtime.scratch, 'p.sock');
  const to = parseEndpoint(runtime.endpoint);
  const proxy = await startCriProxy({ socket, to, logger: silentLogger, script: { script, seed: 42 } });
  const cri = await connectCri({ runtimeEndpoint: runtime.endpoint, logger: silentLogger });
  const kubelet = await startRealKubelet({ ...runtime, endpoint: proxy.endpoint }, { crashLoopBackoff });
  try {
    await runTwice(kubelet, runtime.image);
    await kubelet.until('no sandbox remains', async () => (await cri.runtime.listPodSandbox({})).items.length === 0);
  } finally {
    await kubelet.close();
    cri.close();
    await proxy.close();
    await runtime.stop();
  }
  assert.ok(!existsSync(socket));
});
