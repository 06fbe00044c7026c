import type { ErrorCode } from '@podwright/base';
import { type ContainerFilterSchema, ContainerState, type MessageInitShape } from '@podwright/cri';
import { createIn, type Pod, podConfig, runPod, startIn, untilExited } from './pods.fixture.ts';
import type { RuntimeToCompare } from './runtimes.fixture.ts';

/** The subjects of the compared calls: a pod with one container in each state, and a stopped pod. */
export type World = RuntimeToCompare & {
  pod: Pod;
  created: string;
  running: string;
  exited: string;
  stoppedPod: Pod;
  /** A container in the stopped pod that was never started. */
  stranded: string;
  /** A prefix shared by the IDs of several containers. */
  ambiguous: string;
};

export async function makeWorld(runtime: RuntimeToCompare): Promise<World> {
  const script = 'exec sleep 1000';
  const pod = await runPod(runtime, 'lively');
  const exited = await startIn(runtime, pod, { name: 'exited', script: 'exit 3' });
  const running = await startIn(runtime, pod, { name: 'running', script });
  const created = await createIn(runtime, pod, { name: 'created', script });
  const stoppedPod = await runPod(runtime, 'stopped');
  const stranded = await createIn(runtime, stoppedPod, { name: 'stranded', script });
  await runtime.cri.runtime.stopPodSandbox({ podSandboxId: stoppedPod.podSandboxId });
  await untilExited(runtime, exited);
  // of seventeen IDs, at least two start with the same hexadecimal digit
  const ids = await Promise.all(
    Array.from({ length: 17 }, (_, index) => createIn(runtime, pod, { name: `n${index}`, script })),
  );
  const digits = ids.map((id) => id[0]!);
  const ambiguous = digits.find((digit, index) => digits.indexOf(digit) !== index)!;
  return { ...runtime, pod, created, running, exited, stoppedPod, stranded, ambiguous };
}

export type Outcome = ErrorCode | 'ok';

/** A call with its outcome under Podwright and under containerd 1.6. If they differ, `why` gives the reason. */
export type ErrorCase = { what: string; call: Call; ours: Outcome; containerd: Outcome; why: string };
type Call = (world: World) => Promise<unknown>;

const MISSING = 'f'.repeat(64);
const CLASSLESS = 'containerd 1.6 gives most errors no class, so that clients have to read their messages';
const LATER = 'this call is newer than containerd 1.6';
const RETRY = 'a kubelet retries an interrupted call, and its own first attempt must not block the retry for ever';
const IDEMPOTENT = 'the CRI specifies that stopping a removed container or sandbox succeeds; containerd 2 does so too';

const same = (outcome: Outcome, calls: Record<string, Call>): ErrorCase[] =>
  Object.entries(calls).map(([what, call]) => ({ what, call, ours: outcome, containerd: outcome, why: '' }));

const different = (
  { ours, containerd, why }: Pick<ErrorCase, 'ours' | 'containerd' | 'why'>,
  calls: Record<string, Call>,
): ErrorCase[] => Object.entries(calls).map(([what, call]) => ({ what, call, ours, containerd, why }));

const missing = [
  ...same('not_found', {
    'the status of a missing sandbox': ({ cri }) => cri.runtime.podSandboxStatus({ podSandboxId: MISSING }),
    'the statistics of a missing sandbox': ({ cri }) => cri.runtime.podSandboxStats({ podSandboxId: MISSING }),
    'port-forward to a missing sandbox': ({ cri }) => cri.runtime.portForward({ podSandboxId: MISSING, port: [80] }),
    'a container in a missing sandbox': ({ pod, ...world }) =>
      createIn(world, { ...pod, podSandboxId: MISSING }, { name: 'lost', script: '' }),
    'the status of a missing container': ({ cri }) => cri.runtime.containerStatus({ containerId: MISSING }),
    'the statistics of a missing container': ({ cri }) => cri.runtime.containerStats({ containerId: MISSING }),
    'the start of a missing container': ({ cri }) => cri.runtime.startContainer({ containerId: MISSING }),
    'exec in a missing container': ({ cri }) => cri.runtime.execSync({ containerId: MISSING, cmd: ['true'] }),
    'streamed exec in a missing container': ({ cri }) =>
      cri.runtime.exec({ containerId: MISSING, cmd: ['true'], stdout: true }),
    'attach to a missing container': ({ cri }) => cri.runtime.attach({ containerId: MISSING, stdout: true }),
    'new limits for a missing container': ({ cri }) =>
      cri.runtime.updateContainerResources({ containerId: MISSING, linux: {} }),
    'a new log for a missing container': ({ cri }) => cri.runtime.reopenContainerLog({ containerId: MISSING }),
    'a container of a missing image': ({ pod, ...world }) =>
      createIn(world, pod, { name: 'bare', script: '', image: { image: 'localhost/none:1' } }),
  }),
  ...same('ok', {
    'the removal of a missing sandbox': ({ cri }) => cri.runtime.removePodSandbox({ podSandboxId: MISSING }),
    'the removal of a missing container': ({ cri }) => cri.runtime.removeContainer({ containerId: MISSING }),
    'the status of a missing image': ({ cri }) => cri.image.imageStatus({ image: { image: 'localhost/none:1' } }),
    'the removal of a missing image': ({ cri }) => cri.image.removeImage({ image: { image: 'localhost/none:1' } }),
  }),
  ...different(
    { ours: 'ok', containerd: 'not_found', why: IDEMPOTENT },
    {
      'the stop of a missing sandbox': ({ cri }) => cri.runtime.stopPodSandbox({ podSandboxId: MISSING }),
      'the stop of a missing container': ({ cri }) => cri.runtime.stopContainer({ containerId: MISSING }),
    },
  ),
  ...different(
    { ours: 'not_found', containerd: 'unimplemented', why: LATER },
    {
      'new limits for a missing sandbox': ({ cri }) => cri.runtime.updatePodSandboxResources({ podSandboxId: MISSING }),
    },
  ),
];

const badRequests = [
  ...different(
    { ours: 'invalid_argument', containerd: 'unknown', why: CLASSLESS },
    {
      'the stop of a sandbox without an id': ({ cri }) => cri.runtime.stopPodSandbox({}),
      'the removal of a sandbox without an id': ({ cri }) => cri.runtime.removePodSandbox({}),
      'the stop of a container without an id': ({ cri }) => cri.runtime.stopContainer({}),
      'the removal of a container without an id': ({ cri }) => cri.runtime.removeContainer({}),
      'an ambiguous prefix of container ids': ({ cri, ambiguous }) =>
        cri.runtime.containerStatus({ containerId: ambiguous }),
      'a sandbox without a configuration': ({ cri }) => cri.runtime.runPodSandbox({}),
      'a sandbox without metadata': ({ cri, logs }) =>
        cri.runtime.runPodSandbox({ config: { ...podConfig({ logs }, 'nameless'), metadata: undefined } }),
      'a sandbox of an unknown handler': ({ cri, logs }) =>
        cri.runtime.runPodSandbox({ config: podConfig({ logs }, 'handled'), runtimeHandler: 'nonsense' }),
      'a container without a configuration': ({ cri, pod }) =>
        cri.runtime.createContainer({ podSandboxId: pod.podSandboxId, sandboxConfig: pod.config }),
      'a container without metadata': ({ pod, ...world }) =>
        createIn(world, pod, { name: 'nameless', script: '', metadata: undefined }),
      'exec of an empty command': ({ cri, running }) => cri.runtime.execSync({ containerId: running }),
      'a malformed range of pod addresses': ({ cri }) =>
        cri.runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr: 'nonsense' } } }),
      'a pull of a malformed reference': ({ cri }) => cri.image.pullImage({ image: { image: 'localhost/UPPER:x' } }),
    },
  ),
  ...different(
    { ours: 'not_found', containerd: 'unknown', why: CLASSLESS },
    {
      'the status of a sandbox without an id': ({ cri }) => cri.runtime.podSandboxStatus({}),
      'the status of a container without an id': ({ cri }) => cri.runtime.containerStatus({}),
    },
  ),
  ...same('invalid_argument', {
    'exec without any stream': ({ cri, running }) => cri.runtime.exec({ containerId: running, cmd: ['true'] }),
    'exec with a terminal and a stderr': ({ cri, running }) =>
      cri.runtime.exec({ containerId: running, cmd: ['true'], tty: true, stdout: true, stderr: true }),
    'attach without any stream': ({ cri, running }) => cri.runtime.attach({ containerId: running }),
    'attach with a terminal and a stderr': ({ cri, running }) =>
      cri.runtime.attach({ containerId: running, tty: true, stdout: true, stderr: true }),
  }),
];

const wrongState = [
  ...different(
    { ours: 'failed_precondition', containerd: 'unknown', why: CLASSLESS },
    {
      'the second start of a container': ({ cri, running }) => cri.runtime.startContainer({ containerId: running }),
      'the start of a container that has exited': ({ cri, exited }) =>
        cri.runtime.startContainer({ containerId: exited }),
      'the start of a container in a stopped sandbox': ({ cri, stranded }) =>
        cri.runtime.startContainer({ containerId: stranded }),
      'exec before the start': ({ cri, created }) => cri.runtime.execSync({ containerId: created, cmd: ['true'] }),
      'exec after the exit': ({ cri, exited }) => cri.runtime.execSync({ containerId: exited, cmd: ['true'] }),
      'streamed exec before the start': ({ cri, created }) =>
        cri.runtime.exec({ containerId: created, cmd: ['true'], stdout: true }),
      'streamed exec after the exit': ({ cri, exited }) =>
        cri.runtime.exec({ containerId: exited, cmd: ['true'], stdout: true }),
      'attach before the start': ({ cri, created }) => cri.runtime.attach({ containerId: created, stdout: true }),
      'attach after the exit': ({ cri, exited }) => cri.runtime.attach({ containerId: exited, stdout: true }),
      'a new log before the start': ({ cri, created }) => cri.runtime.reopenContainerLog({ containerId: created }),
      'a new log after the exit': ({ cri, exited }) => cri.runtime.reopenContainerLog({ containerId: exited }),
      'port-forward to a stopped sandbox': ({ cri, stoppedPod }) =>
        cri.runtime.portForward({ podSandboxId: stoppedPod.podSandboxId, port: [80] }),
    },
  ),
  ...different(
    { ours: 'failed_precondition', containerd: 'not_found', why: 'the sandbox exists, it only does not run' },
    {
      'a container in a stopped sandbox': ({ stoppedPod, ...world }) =>
        createIn(world, stoppedPod, { name: 'late', script: '' }),
    },
  ),
  ...different(
    { ours: 'failed_precondition', containerd: 'ok', why: 'no process would have these limits any more' },
    {
      'new limits after the exit': ({ cri, exited }) =>
        cri.runtime.updateContainerResources({ containerId: exited, linux: { cpuShares: 10n } }),
    },
  ),
  ...same('ok', {
    'new limits before the start': ({ cri, created }) =>
      cri.runtime.updateContainerResources({ containerId: created, linux: { cpuShares: 10n } }),
    'the stop of a container that was never started': ({ cri, created }) =>
      cri.runtime.stopContainer({ containerId: created }),
    'the stop of a container that has exited': ({ cri, exited }) => cri.runtime.stopContainer({ containerId: exited }),
    'the second stop of a sandbox': ({ cri, stoppedPod }) =>
      cri.runtime.stopPodSandbox({ podSandboxId: stoppedPod.podSandboxId }),
  }),
  ...different(
    { ours: 'ok', containerd: 'unknown', why: 'the usage of its writable layer exists and is reported' },
    {
      'the statistics of a container that has exited': ({ cri, exited }) =>
        cri.runtime.containerStats({ containerId: exited }),
      'the statistics of a stopped sandbox': ({ cri, stoppedPod }) =>
        cri.runtime.podSandboxStats({ podSandboxId: stoppedPod.podSandboxId }),
    },
  ),
];

const names = [
  ...different(
    { ours: 'ok', containerd: 'unknown', why: RETRY },
    {
      'the same sandbox again': ({ cri, pod }) => cri.runtime.runPodSandbox({ config: pod.config }),
      'the same container again': ({ pod, ...world }) =>
        createIn(world, pod, { name: 'created', script: 'exec sleep 1000' }),
    },
  ),
  ...different(
    { ours: 'already_exists', containerd: 'unknown', why: CLASSLESS },
    {
      'another sandbox of the same name': ({ cri, pod }) =>
        cri.runtime.runPodSandbox({ config: { ...pod.config, hostname: 'other' } }),
      'another container of the same name': ({ pod, ...world }) =>
        createIn(world, pod, { name: 'created', script: 'exit 4' }),
      'the same container again when it runs': ({ pod, ...world }) =>
        createIn(world, pod, { name: 'running', script: 'exec sleep 1000' }),
    },
  ),
];

const commands = [
  ...same('deadline_exceeded', {
    'a command that takes too long': ({ cri, running }) =>
      cri.runtime.execSync({ containerId: running, cmd: ['sleep', '1000'], timeout: 1n }),
  }),
  ...same('unknown', {
    'a command that is not in the image': ({ cri, running }) =>
      cri.runtime.execSync({ containerId: running, cmd: ['/no/such/command'] }),
  }),
  ...same('ok', {
    'a command that fails': ({ cri, running }) => cri.runtime.execSync({ containerId: running, cmd: ['false'] }),
  }),
  ...different(
    { ours: 'ok', containerd: 'resource_exhausted', why: 'the exit code is worth more than the last bytes of output' },
    {
      'a command that writes more than an answer can hold': ({ cri, running }) =>
        cri.runtime.execSync({ containerId: running, cmd: ['head', '-c', '17000000', '/dev/zero'] }),
    },
  ),
  ...different(
    { ours: 'unavailable', containerd: 'unknown', why: CLASSLESS },
    {
      'a pull from a registry that does not exist': ({ cri }) =>
        cri.image.pullImage({ image: { image: '127.0.0.1:1/none:1' } }),
    },
  ),
];

/** These cases run last, because they remove the container and the sandbox that other cases need. */
const last = same('ok', {
  'the removal of a container that runs': ({ cri, running }) => cri.runtime.removeContainer({ containerId: running }),
  'the removal of a sandbox that runs': ({ cri, pod }) =>
    cri.runtime.removePodSandbox({ podSandboxId: pod.podSandboxId }),
});

export const errorCases: ErrorCase[] = [...missing, ...badRequests, ...names, ...wrongState, ...commands, ...last];

/** ListContainers filters, with the names of the matching containers in alphabetical order. */
export const listCases: Record<string, { ask: (world: World) => Promise<string[]>; shown: string[] }> = {
  'by its id': { ask: (world) => listed(world, { id: world.running }), shown: ['running'] },
  'by a prefix of its id': { ask: (world) => listed(world, { id: world.running.slice(0, 12) }), shown: ['running'] },
  'by an id that does not exist': { ask: (world) => listed(world, { id: MISSING }), shown: [] },
  'by its sandbox': {
    ask: (world) => listed(world, { podSandboxId: world.stoppedPod.podSandboxId }),
    shown: ['stranded'],
  },
  'by a prefix of the id of its sandbox': {
    ask: (world) => listed(world, { podSandboxId: world.stoppedPod.podSandboxId.slice(0, 12) }),
    shown: ['stranded'],
  },
  'by a sandbox that does not exist': { ask: (world) => listed(world, { podSandboxId: MISSING }), shown: [] },
  'by its state': {
    ask: (world) => listed(world, { state: { state: ContainerState.CONTAINER_EXITED } }),
    shown: ['exited'],
  },
  'by its label': { ask: (world) => listed(world, { labelSelector: { container: 'created' } }), shown: ['created'] },
  'by a label that no container has': {
    ask: (world) => listed(world, { labelSelector: { container: '' } }),
    shown: [],
  },
  'by two criteria': {
    ask: (world) => listed(world, { id: world.running, podSandboxId: world.stoppedPod.podSandboxId }),
    shown: [],
  },
};

async function listed({ cri }: World, filter: MessageInitShape<typeof ContainerFilterSchema>): Promise<string[]> {
  const { containers } = await cri.runtime.listContainers({ filter });
  return containers.map(({ metadata }) => metadata!.name).sort();
}
