import { type DescMessage, type Message, toBinary } from '@bufbuild/protobuf';
import { errorCodeOfStatus, PodwrightError, sleep } from '@podwright/base';
import {
  type ContainerFilter,
  ContainerStatusResponseSchema,
  type CreateContainerRequest,
  create,
  type ExecSyncRequest,
  type ImageStatusRequest,
  ListContainersResponseSchema,
  ListPodSandboxResponseSchema,
  messagePages,
  type PodSandboxFilter,
  PodSandboxStatusResponseSchema,
  PullImageResponseSchema,
  type RunPodSandboxRequest,
  StreamContainersResponseSchema,
  StreamPodSandboxesResponseSchema,
} from '@podwright/cri';
import type { Backend, ProxyAnswer, ProxyRequest } from '../exchange/backend.ts';
import { answerOf, failedAnswer } from '../exchange/made-answer.ts';
import type { CriMethod } from '../methods/cri-methods.ts';
import { decodeMessage } from '../methods/decode.ts';
import { podText } from '../methods/subject.ts';
import type { RecordedCall, Recording } from '../recording/read-recording.ts';
import { matchesContainer, matchesSandbox } from './filters.ts';
import { type Change, ReplayRuntime } from './replay-runtime.ts';

/** How often an event stream checks for due events, in milliseconds. */
const EVENT_INTERVAL_MS = 50;

type Asked = { method: CriMethod; message: Message; request: ProxyRequest };
type Handler = (asked: Asked) => Promise<ProxyAnswer>;
type Ids = { podSandboxId?: string; containerId?: string };

/** A backend that responds like the recorded runtime. See docs/cri-proxy.md. */
export class ReplayBackend {
  readonly #runtime: ReplayRuntime;
  readonly #methods: ReadonlyMap<string, CriMethod>;
  readonly #packages: ReadonlySet<string>;
  /** Names of the methods that the recorded runtime has answered with at least one message. */
  readonly #answered: ReadonlySet<string>;
  readonly #handlers: Record<string, Handler>;

  constructor(recording: Recording, methods: ReadonlyMap<string, CriMethod>) {
    this.#runtime = new ReplayRuntime(recording, Date.now());
    this.#methods = methods;
    const answered = recording.calls.filter(({ answers }) => answers.length > 0);
    this.#packages = new Set(answered.map(({ method }) => method.packageName));
    this.#answered = new Set(answered.map(({ method }) => method.name));
    this.#handlers = this.#makeHandlers();
  }

  readonly answer: Backend = async (request) => {
    const method = this.#methods.get(request.path);
    const message = method && request.message && decodeMessage(method.input, request.message);
    if (method === undefined || message === undefined || !this.#packages.has(method.packageName))
      return failedAnswer(new PodwrightError('unimplemented', `the recording has no method ${request.path}`));
    const asked = { method, message, request };
    return await (this.#handlers[method.name] ?? ((one) => this.#recorded(one)))(asked);
  };

  #makeHandlers(): Record<string, Handler> {
    const change: Handler = (asked) => this.#changeObject(asked);
    const changes = 'StopPodSandbox RemovePodSandbox StartContainer StopContainer RemoveContainer'.split(' ');
    const updates = 'UpdateContainerResources UpdatePodSandboxResources ReopenContainerLog CheckpointContainer'.split(
      ' ',
    );
    return {
      ...Object.fromEntries([...changes, ...updates].map((name) => [name, change])),
      RunPodSandbox: (asked) => this.#run(asked),
      CreateContainer: (asked) => this.#create(asked),
      ListPodSandbox: (asked) => this.#listSandboxes(asked),
      StreamPodSandboxes: (asked) => this.#ifAnswered(asked, () => this.#listSandboxes(asked)),
      ListContainers: (asked) => this.#listContainers(asked),
      StreamContainers: (asked) => this.#ifAnswered(asked, () => this.#listContainers(asked)),
      PodSandboxStatus: (asked) => this.#sandboxStatus(asked),
      ContainerStatus: (asked) => this.#containerStatus(asked),
      ImageStatus: async ({ method, message }) =>
        answerWith(
          method,
          this.#runtime.imageStatus(message as ImageStatusRequest, Date.now()) ?? create(method.output),
        ),
      PullImage: (asked) => this.#changeImage(asked),
      RemoveImage: (asked) => this.#changeImage(asked),
      ExecSync: (asked) => this.#exec(asked),
      GetContainerEvents: async ({ request, method }) => this.#events(request, method),
    };
  }

  async #run({ method, message, request }: Asked): Promise<ProxyAnswer> {
    const run = message as RunPodSandboxRequest;
    const { namespace = '', name = '' } = run.config?.metadata ?? {};
    const pod = podText({ namespace, pod: name });
    const change = this.#runtime.changePod(method.name, { pod, matches: () => true });
    return await this.#perform(
      { method, message, request },
      { change, what: `pod ${pod}`, done: () => this.#runtime.finishCreation(change, run) },
    );
  }

  async #create({ method, message, request }: Asked): Promise<ProxyAnswer> {
    const wanted = message as CreateContainerRequest;
    const name = wanted.config?.metadata?.name ?? '';
    const pod = this.#runtime.sandboxes.get(wanted.podSandboxId)?.recorded.pod ?? '-';
    const matches = (recorded: RecordedCall) =>
      (recorded.request as CreateContainerRequest).config?.metadata?.name === name;
    const change = this.#runtime.changePod(method.name, { pod, matches });
    const what = `container ${name} of pod ${pod}`;
    return await this.#perform(
      { method, message, request },
      { change, what, done: () => this.#runtime.finishCreation(change, wanted) },
    );
  }

  /**
   * Responds to a call that changes an existing sandbox or container. Stops and removals that were not recorded also succeed and take
   * effect.
   */
  async #changeObject(asked: Asked): Promise<ProxyAnswer> {
    const { podSandboxId = '', containerId = '' } = asked.message as Ids;
    const id = containerId || podSandboxId;
    const object = this.#runtime.containers.get(id) ?? this.#runtime.sandboxes.get(id);
    const isFree = /^(?:Stop|Remove)/.test(asked.method.name);
    if (object === undefined || !object.isMade) {
      if (isFree) return answerWith(asked.method, create(asked.method.output));
      return failedAnswer(new PodwrightError('not_found', `the recording has no ${id}`));
    }
    const matches = ({ request }: RecordedCall) =>
      ((request as Ids).containerId || (request as Ids).podSandboxId) === id;
    const change = this.#runtime.changePod(asked.method.name, { pod: object.recorded.pod, matches });
    const done = () => {
      if (asked.method.name.startsWith('Remove')) object.isRemoved = true;
      if (change.recorded === undefined && asked.method.name.startsWith('Stop')) object.stoppedAtMs ??= Date.now();
    };
    if (change.recorded !== undefined || asked.method.name === 'StartContainer')
      return await this.#perform(asked, { change, what: `container ${id}`, done });
    done();
    return answerWith(asked.method, create(asked.method.output));
  }

  async #changeImage(asked: Asked): Promise<ProxyAnswer> {
    const change = this.#runtime.beginImageChange(asked.method.name, asked.message);
    const { image } = this.#runtime.imageStatus(asked.message as ImageStatusRequest, Date.now()) ?? {};
    if (change.recorded === undefined && asked.method.name === 'PullImage' && image !== undefined)
      return answerWith(asked.method, create(PullImageResponseSchema, { imageRef: image.id }));
    const name = (asked.message as ImageStatusRequest).image?.image;
    return await this.#perform(asked, { change, what: `image ${name}`, done: () => undefined });
  }

  /** Waits as long as the recorded call took, and then returns its recorded response. */
  async #perform(
    { method, request }: Asked,
    { change: { recorded, timeline }, what, done }: { change: Change; what: string; done: () => void },
  ): Promise<ProxyAnswer> {
    if (recorded === undefined)
      return failedAnswer(new PodwrightError('unavailable', `the recording has no further ${method.name} of ${what}`));
    await waitFor(recorded, request.signal);
    timeline.finish(recorded, Date.now());
    if (recorded.answers.length > 0) done();
    return recordedAnswer(method, recorded);
  }

  /** Answers a call to a method that not every runtime implements. Fails if the recorded runtime never answered that method. */
  async #ifAnswered({ method }: Asked, answer: () => Promise<ProxyAnswer>): Promise<ProxyAnswer> {
    return this.#answered.has(method.name) ? await answer() : notRecorded(method);
  }

  async #listSandboxes({ method, message }: Asked): Promise<ProxyAnswer> {
    const { filter } = message as { filter?: PodSandboxFilter };
    const nowMs = Date.now();
    const visible = [...this.#runtime.sandboxes.values()].filter(({ isVisible }) => isVisible);
    const items = visible
      .map((one) => one.entry(one.timeline.at(nowMs)))
      .filter((entry) => matchesSandbox(entry, filter));
    const isStream = method.name === 'StreamPodSandboxes';
    if (!isStream) return answerWith(method, create(ListPodSandboxResponseSchema, { items }));
    return answerPages(method, items, (podSandboxes) => create(StreamPodSandboxesResponseSchema, { podSandboxes }));
  }

  async #listContainers({ method, message }: Asked): Promise<ProxyAnswer> {
    const { filter } = message as { filter?: ContainerFilter };
    const nowMs = Date.now();
    const visible = [...this.#runtime.containers.values()].filter(({ isVisible }) => isVisible);
    const containers = visible
      .map((one) => one.entry(one.timeline.at(nowMs)))
      .filter((entry) => matchesContainer(entry, filter));
    const isStream = method.name === 'StreamContainers';
    if (!isStream) return answerWith(method, create(ListContainersResponseSchema, { containers }));
    return answerPages(method, containers, (some) => create(StreamContainersResponseSchema, { containers: some }));
  }

  async #sandboxStatus({ method, message }: Asked): Promise<ProxyAnswer> {
    const { podSandboxId } = message as { podSandboxId: string } & Message;
    const sandbox = this.#runtime.sandboxes.get(podSandboxId);
    if (!sandbox?.isVisible)
      return failedAnswer(new PodwrightError('not_found', `there is no sandbox ${podSandboxId}`));
    const status = sandbox.status(sandbox.timeline.at(Date.now()));
    return answerWith(method, create(PodSandboxStatusResponseSchema, { status }));
  }

  async #containerStatus({ method, message }: Asked): Promise<ProxyAnswer> {
    const { containerId } = message as { containerId: string } & Message;
    const container = this.#runtime.containers.get(containerId);
    if (!container?.isVisible)
      return failedAnswer(new PodwrightError('not_found', `there is no container ${containerId}`));
    const status = container.status(container.timeline.at(Date.now()));
    return answerWith(method, create(ContainerStatusResponseSchema, { status }));
  }

  async #exec({ method, message, request }: Asked): Promise<ProxyAnswer> {
    const { containerId, cmd } = message as ExecSyncRequest;
    const pod = this.#runtime.containers.get(containerId)?.recorded.pod;
    const isSame = ({ request: other }: RecordedCall) => {
      const exec = other as ExecSyncRequest;
      return exec.containerId === containerId && JSON.stringify(exec.cmd) === JSON.stringify(cmd);
    };
    const recorded =
      pod === undefined ? undefined : this.#runtime.recordedCall('ExecSync', { nowMs: Date.now(), isSame, pod });
    if (recorded === undefined)
      return failedAnswer(
        new PodwrightError('unavailable', `the recording has no such ExecSync in container ${containerId}`),
      );
    await waitFor(recorded, request.signal);
    return recordedAnswer(method, recorded);
  }

  #events(request: ProxyRequest, method: CriMethod): ProxyAnswer {
    if (!this.#runtime.hasEvents)
      return failedAnswer(new PodwrightError('unimplemented', 'the recorded runtime has no events'));
    const read = new Set<object>();
    const runtime = this.#runtime;
    async function* events() {
      runtime.events(read, Date.now()); // events before the subscription are not sent
      for (;;) {
        await sleep(EVENT_INTERVAL_MS, request.signal);
        for (const event of runtime.events(read, Date.now())) yield toBinary(method.output, event);
      }
    }
    return answerOf(events());
  }

  /**
   * Responds to a call that has no handler of its own, such as one for node status or statistics, with the response recorded for the
   * current time of the replay.
   */
  async #recorded({ method, message }: Asked): Promise<ProxyAnswer> {
    const bytes = Buffer.from(toBinary(method.input, message));
    const isSame = (call: RecordedCall) => bytes.equals(toBinary(method.input, call.request));
    const recorded = this.#runtime.recordedCall(method.name, { nowMs: Date.now(), isSame });
    return recorded === undefined ? notRecorded(method) : recordedAnswer(method, recorded);
  }
}

async function waitFor({ atMs, endMs }: RecordedCall, signal: AbortSignal): Promise<void> {
  if (endMs > atMs) await sleep(endMs - atMs, signal);
}

function recordedAnswer(method: CriMethod, { answers, status, trailers = [] }: RecordedCall): ProxyAnswer {
  if (status !== undefined)
    return failedAnswer(new PodwrightError(errorCodeOfStatus(status.code), status.message), trailers);
  return answerOf(
    each(
      method.output,
      answers.map(({ message }) => message),
    ),
  );
}

const notRecorded = ({ name }: CriMethod) =>
  failedAnswer(new PodwrightError('unimplemented', `the recording has no ${name}`));

function answerWith(method: CriMethod, message: Message): ProxyAnswer {
  return answerOf(each(method.output, [message]));
}

/** Answers a streaming list, in messages of at most the CRI's maximum message size. */
function answerPages<T>(method: CriMethod, items: T[], message: (some: T[]) => Message): ProxyAnswer {
  async function* pages() {
    for await (const some of messagePages(items, (page) => [...page])) yield toBinary(method.output, message(some));
  }
  return answerOf(pages());
}

async function* each(schema: DescMessage, messages: Message[]) {
  for (const message of messages) yield toBinary(schema, message);
}
