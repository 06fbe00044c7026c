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

/** A PodSandboxStatus handler that returns just the sandbox's ID and state. */
const podSandboxStatus: RuntimeHandlers['podSandboxStatus'] = async ({ podSandboxId }, { signal }) => {
  const found = await unlessNotFound(pod.engine.containers.inspect(podSandboxId, signal));
  if (found === undefined) throw new PodwrightError('not_found', podSandboxId);
  return { status: { id: found.Id, state: found.State.Running ? 0 : 1 } };
};

/** Generous timeout, to allow for a busy host. */
const PATIENCE_MS = 60_000;

/** Subscribes to events; the signal ends the streams. If a wait times out, its error lists the events received so far. */
function watch(signal: AbortSignal) {
  const { engine } = pod;
  const runPodSandbox = () => Promise.reject(new Error('sandboxes are made by hand here'));
  const verbs = { ...pod.verbs.handlers, podSandboxStatus, runPodSandbox };
  const handlers = eventHandlers({ engine, logger: silentLogger }, verbs);
  const subscribe = (one = signal) =>
    new Received(
      handlers.getContainerEvents(
        create(GetEventsRequestSchema),
        anyCall(AbortSignal.any([one, AbortSignal.timeout(PATIENCE_MS)])),
      ),
    );
  return { subscribe, received: subscribe() };
}

/**
 * The container events that a subscriber receives, as lines: type and container. `last` holds the states of the pod's containers as of the
 * last event.
 */
class Received {
  readonly #events: AsyncIterator<ContainerEventResponse, undefined>;

  constructor(events: ReturnType<RuntimeHandlers['getContainerEvents']>) {
    this.#events = events[Symbol.asyncIterator]() as never;
  }

  /** Reads lines until all wanted ones have arrived, in any order and possibly interleaved with others. */
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

test('subscribers receive pod events with the pod status, and no events of other containers', async () => {
  using leave = Object.assign(new AbortController(), { [Symbol.dispose]: () => leave.abort() });
  const { received, subscribe } = watch(leave.signal);
  const hostile = { [TYPE_LABEL]: CONTAINER_TYPE, [SANDBOX_ID_LABEL]: pod.sandboxId };
  const foreign = await pod.engine.containers.create('odd', { Image: busyboxImage, Labels: hostile, HostConfig: {} });
  const id = await pod.verbs.create({ metadata: { name: 'watched' } });
  await received.until([short(id, 'created')]);
  assert.equal(received.last, `0 ${id.slice(0, 6)}=created`);
  const second = subscribe();
  await pod.verbs.start(id);
  await received.until([short(id, 'started')]);
  assert.equal(received.last, `0 ${id.slice(0, 6)}=running`);
  await second.until([short(id, 'started')]);
  await pod.verbs.stop(id);
  await pod.engine.containers.remove(foreign);
  await pod.verbs.remove(id);
  assert.deepEqual(await received.until([short(id, 'deleted')]), [short(id, 'stopped'), short(id, 'deleted')]);
  assert.equal(received.last, '0 ');
  const other = await startSandbox(pod.engine, 'sandboxed');
  await pod.engine.containers.remove(other);
  const own = ['created', 'started', 'stopped', 'deleted'].map((kind) => short(other, kind));
  assert.deepEqual(await received.until([own[3]!]), own);
  assert.equal(received.last, 'no ');
});

test('changes while the Engine is down are reported after its restart, and so are later events', async () => {
  using leave = Object.assign(new AbortController(), { [Symbol.dispose]: () => leave.abort() });
  const { received } = watch(leave.signal);
  const [ends, stays] = await Promise.all(
    ['ends', 'stays'].map(async (name) => {
      const own = { namespaceOptions: { pid: 1 } };
      const id = await pod.verbs.create({ metadata: { name }, linux: { securityContext: own } });
      await pod.verbs.start(id);
      return id;
    }),
  );
  await received.until([short(ends!, 'started'), short(stays!, 'started')]);
  const { Pid } = (await pod.engine.containers.inspect(ends!)).State;
  await pod.docker.restart(async () => void process.kill(Pid, 'SIGKILL'));
  await received.until([short(ends!, 'stopped')]);
  assert.ok(
    received.last.includes(`${ends!.slice(0, 6)}=exited`) && received.last.includes(`${stays!.slice(0, 6)}=running`),
  );
  await pod.verbs.stop(stays!);
  await received.until([short(stays!, 'stopped')]);
});

test('the Engine is watched only while there are subscribers', async () => {
  const leave = new AbortController();
  const { received } = watch(leave.signal);
  const id = await pod.verbs.create({ metadata: { name: 'left' } });
  await received.until([short(id, 'created')]);
  leave.abort();
  await received.until(['never']).then(
    () => assert.fail(),
    (error: Error) => assert.match(error.message, /the stream has ended/),
  );
});
