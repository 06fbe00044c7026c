/** The kubelet on a containerd that executes all calls, but whose responses are lost or stale. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import {
  ContainerState,
  type ContainerStatusRequest,
  type ContainerStatusResponse,
  type ListContainersResponse,
} from '@podwright/cri';
import type { Intercept } from '@podwright/cri-proxy';
import type { Pod } from '@podwright/kube-api';
import { busyboxImage } from './containerd.fixture.ts';
import { type CriProxy, startTestProxy } from './cri-proxy.fixture.ts';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { type RestartableRuntime, startOtherRuntime } from './suite-runtime.fixture.ts';

const honest: Intercept = (_, forward) => forward();
let intercept = honest;
let runtime: RestartableRuntime;
let proxy: CriProxy;
let kubelet: RealKubelet;
before(async () => {
  runtime = await startOtherRuntime('fr');
  proxy = await startTestProxy(join(runtime.scratch, 'proxy.sock'), {
    runtimeEndpoint: runtime.endpoint,
    intercept: (call, forward) => intercept(call, forward),
    hasEvents: false, // events would reveal the true state
  });
  const crashLoopBackoff = { initialMs: 100, maxMs: 1000 };
  kubelet = await startRealKubelet({ ...runtime, endpoint: proxy.endpoint }, { crashLoopBackoff });
});
after(async () => {
  intercept = honest;
  await kubelet.close();
  await proxy.close();
  await runtime.stop();
});
beforeEach(() => {
  intercept = honest;
});

/** Returns a pod with one container, which exits with code 1 once the file `end` exists in its volume. */
const manifest = (name: string): string => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 2
  containers:
  - name: app
    image: ${busyboxImage}
    command: [sh, -c, "trap 'exit 0' TERM; until [ -e /v/end ]; do sleep 0.1; done; rm /v/end; exit 1"]
    volumeMounts: [{name: v, mountPath: /v}]
  volumes: [{name: v, emptyDir: {}}]
`;

const isReady = (pod: Pod) =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
const restartsOf = (pod: Pod) => pod.status!.containerStatuses![0]!.restartCount;

/** Returns the states of a pod's containers, straight from the runtime. */
async function containersOf(name: string): Promise<ContainerState[]> {
  const { containers } = await proxy.cri.runtime.listContainers({});
  return containers.filter(({ labels }) => labels['io.kubernetes.pod.name'] === name).map(({ state }) => state);
}

async function endContainer({ metadata }: Pod): Promise<void> {
  const end = join(kubelet.options.rootDir, 'pods', metadata.uid, 'volumes/kubernetes.io~empty-dir/v/end');
  writeFileSync(end, '');
  await kubelet.until('the container has exited', async () =>
    (await containersOf(metadata.name)).includes(ContainerState.CONTAINER_EXITED),
  );
}

async function remove(name: string): Promise<void> {
  await kubelet.remove(`${name}.yaml`);
  await kubelet.until('the pod is removed', () => kubelet.handle.pods().length === 0);
}

test('a pod is started once and removed, even if the first response to each call is lost', async () => {
  const changing = ['RunPodSandbox', 'CreateContainer', 'StartContainer', 'StopContainer', 'StopPodSandbox'];
  const unanswered = new Set([...changing, 'RemoveContainer', 'RemovePodSandbox', 'PodSandboxStatus']);
  intercept = async ({ method }, forward) => {
    const answer = await forward();
    if (unanswered.delete(method.name)) throw new PodwrightError('unavailable', 'the answer is lost');
    return answer;
  };
  await kubelet.apply('lost.yaml', manifest('lost'));
  const pod = await kubelet.pod('lost', isReady);
  const running = (await containersOf('lost')).filter((state) => state === ContainerState.CONTAINER_RUNNING);
  assert.equal(running.length, 1);
  await remove('lost');
  assert.deepEqual([...unanswered], []);
  assert.deepEqual((await proxy.cri.runtime.listPodSandbox({})).items, []);
  assert.deepEqual(await containersOf('lost'), []);
  assert.deepEqual(await kubelet.podCgroups(), []);
  assert.equal(existsSync(join(kubelet.options.podLogsDir, `default_lost_${pod.metadata.uid}`)), false);
});

test('an exited container reported as running by the runtime is restarted once its true state is reported', async () => {
  const seen = new Map<string, ContainerStatusResponse>();
  let lies = false;
  intercept = async ({ method, request }, forward) => {
    const answer = await forward();
    const { containerId } = request as ContainerStatusRequest;
    if (method.name === 'ContainerStatus') {
      if (lies) return seen.get(containerId) ?? answer;
      if ((answer as ContainerStatusResponse).status?.state === ContainerState.CONTAINER_RUNNING)
        seen.set(containerId, answer as ContainerStatusResponse);
    }
    if (method.name === 'ListContainers' && lies)
      for (const one of (answer as ListContainersResponse).containers) one.state = ContainerState.CONTAINER_RUNNING;
    return answer;
  };
  await kubelet.apply('liar.yaml', manifest('liar'));
  const pod = await kubelet.pod('liar', isReady);
  await kubelet.until('its status is known', () => seen.size > 0);
  lies = true;
  await endContainer(pod);
  let looks = 0;
  const lying = intercept;
  intercept = (call, forward) => {
    if (call.method.name === 'ListContainers') looks++;
    return lying(call, forward);
  };
  await kubelet.until('the kubelet has listed the containers', () => looks >= 3);
  assert.deepEqual(await containersOf('liar'), [ContainerState.CONTAINER_EXITED]);
  lies = false;
  const restarted = await kubelet.pod('liar', (one) => isReady(one) && restartsOf(one) === 1);
  assert.equal(restarted.status!.containerStatuses![0]!.lastState!.terminated!.exitCode, 1);
  const running = (await containersOf('liar')).filter((state) => state === ContainerState.CONTAINER_RUNNING);
  assert.equal(running.length, 1);
  await remove('liar');
});
