import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import {
  type ContainerEventResponse,
  ContainerEventType,
  ContainerState,
  create,
  GetEventsRequestSchema,
  type RuntimeHandlers,
} from '@podwright/cri';
import { unlessNotFound } from '../../packages/dockershim/src/engine/unless-not-found.ts';
import { eventHandlers } from '../../packages/dockershim/src/events/event-handlers.ts';
import { CONTAINER_TYPE, SANDBOX_ID_LABEL, TYPE_LABEL } from '../../packages/dockershim/src/labels/labels.ts';
import { anyCall, type EnginePod, startEnginePod, startSandbox } from './containers.fixture.ts';
import { busyboxImage } from './docker-engine.fixture.ts';

let pod: EnginePod;
before(async () => {
  pod = await startEnginePod();
});
after(() => pod?.[Symbol.asyncDispose]());

/** How a sandbox is, as far as these tests look at it. */
const podSandboxStatus: RuntimeHandlers['podSandboxStatus'] = async ({ podSandboxId }, { signal }) => {
  const found = await unlessNotFound(pod.engine.containers.inspect(podSandboxId, signal));
  if (found === undefined) throw new PodwrightError('not_found', podSandboxId);
  return { status: { id: found.Id, state: found.State.Running ? 0 : 1 } };
};

/** Enough for a busy host. */
const PATIENCE_MS = 60_000;

/** Streams end with the signal, and tell what came when a test waits for too long. */
function watch(signal: AbortSignal) {
  const { engine } = pod;
  const runPodSandbox = () => Promise.reject(new Error('sandboxes are made by hand here'));
  const verbs = { ...pod.verbs.handlers, podSandboxStatus, runPodSandbox };
  const handlers = eventHandlers({ engine, logger: silentLogger }, verbs);
  const subscribe = (one = signal) =>
    new Told(
      handlers.getContainerEvents(
        create(GetEventsRequestSchema),
        anyCall(AbortSignal.any([one, AbortSignal.timeout(PATIENCE_MS)])),
      ),
    );
  return { subscribe, told: subscribe() };
}

/** What a subscriber is told, a line each: what happened to which container, and how its pod's containers were. */
class Told {
  readonly #events: AsyncIterator<ContainerEventResponse, undefined>;

  constructor(events: ReturnType<RuntimeHandlers['getContainerEvents']>) {
    this.#events = events[Symbol.asyncIterator]() as never;
  }

  /** Lines until all wanted ones have come, in any order with others in between. */
  async until(wanted: string[]): Promise<string[]> {
    const lines: string[] = [];
    while (!wanted.every((line) => lines.includes(line))) {
      const { value, done } = await this.#events.next();
      assert.ok(!done, `the stream has ended; so far: ${lines.join(', ')}`);
      const kind = ContainerEventType[value.containerEventType]!.replace(/CONTAINER_|_EVENT/g, '').toLowerCase();
      const states = value.containersStatuses.map(({ id, state }) => {
        return `${id.slice(0, 6)}=${ContainerState[state]!.replace('CONTAINER_', '').toLowerCase()}`;
      });
      const sandbox = value.podSandboxStatus === undefined ? 'no' : value.podSandboxStatus.state;
      lines.push(`${value.containerId.slice(0, 6)} ${kind}`);
      this.last = `${sandbox} ${states.join(' ')}`;
    }
    return lines;
  }

  last = '';
}

const short = (id: string, kind: string) => `${id.slice(0, 6)} ${kind}`;

test('subscribers are told what happens to pods, with how the pod is then, and nothing of other containers', async () => {
  using leave = Object.assign(new AbortController(), { [Symbol.dispose]: () => leave.abort() });
  const { told, subscribe } = watch(leave.signal);
  const hostile = { [TYPE_LABEL]: CONTAINER_TYPE, [SANDBOX_ID_LABEL]: pod.sandboxId };
  const foreign = await pod.engine.containers.create('odd', { Image: busyboxImage, Labels: hostile, HostConfig: {} });
  const id = await pod.verbs.create({ metadata: { name: 'told' } });
  await told.until([short(id, 'created')]);
  assert.equal(told.last, `0 ${id.slice(0, 6)}=created`);
  const second = subscribe();
  await pod.verbs.start(id);
  await told.until([short(id, 'started')]);
  assert.equal(told.last, `0 ${id.slice(0, 6)}=running`);
  await second.until([short(id, 'started')]);
  await pod.verbs.stop(id);
  await pod.engine.containers.remove(foreign);
  await pod.verbs.remove(id);
  assert.deepEqual(await told.until([short(id, 'deleted')]), [short(id, 'stopped'), short(id, 'deleted')]);
  assert.equal(told.last, '0 ');
  const other = await startSandbox(pod.engine, 'sandboxed');
  await pod.engine.containers.remove(other);
  const own = ['created', 'started', 'stopped', 'deleted'].map((kind) => short(other, kind));
  assert.deepEqual(await told.until([own[3]!]), own);
  assert.equal(told.last, 'no ');
});

test('what happens while the Engine is away is told when it is back, and what happens then', async () => {
  using leave = Object.assign(new AbortController(), { [Symbol.dispose]: () => leave.abort() });
  const { told } = watch(leave.signal);
  const [ends, stays] = await Promise.all(
    ['ends', 'stays'].map(async (name) => {
      const own = { namespaceOptions: { pid: 1 } };
      const id = await pod.verbs.create({ metadata: { name }, linux: { securityContext: own } });
      await pod.verbs.start(id);
      return id;
    }),
  );
  await told.until([short(ends!, 'started'), short(stays!, 'started')]);
  const { Pid } = (await pod.engine.containers.inspect(ends!)).State;
  await pod.docker.restart(async () => void process.kill(Pid, 'SIGKILL'));
  await told.until([short(ends!, 'stopped')]);
  assert.ok(told.last.includes(`${ends!.slice(0, 6)}=exited`) && told.last.includes(`${stays!.slice(0, 6)}=running`));
  await pod.verbs.stop(stays!);
  await told.until([short(stays!, 'stopped')]);
});

test('the Engine is followed while somebody listens', async () => {
  const leave = new AbortController();
  const { told } = watch(leave.signal);
  const id = await pod.verbs.create({ metadata: { name: 'left' } });
  await told.until([short(id, 'created')]);
  leave.abort();
  await told.until(['never']).then(
    () => assert.fail(),
    (error: Error) => assert.match(error.message, /the stream has ended/),
  );
});
