import { type JsonValue, type Message, toJson } from '@bufbuild/protobuf';
import { waitFor } from '@podwright/base';
import {
  type Container,
  ContainerSchema,
  type EventName,
  Plugin,
  type PluginHandlers,
  type PodSandbox,
  PodSandboxSchema,
  type RunningPlugin,
  runPlugin,
} from '@podwright/nri';
import { EVENT_NAMES_OF_PODS } from '../nri-options.fixture.ts';

/** A message received by a probe, or the outcome of a CRI call. */
export type Step = { name: string; message: JsonValue };

export type Steps = Step[];

/** The responses or errors that a probe returns for events. For all other events, it requests no changes. */
export type Answers = PluginHandlers;

/** A plugin that records every message it receives. */
export class Probe {
  readonly #plugin: RunningPlugin;
  readonly #steps: Steps;

  private constructor(plugin: RunningPlugin, steps: Steps) {
    this.#plugin = plugin;
    this.#steps = steps;
  }

  /** Connects a probe that subscribes to all events. Resolves once it has been synchronized. */
  static async connect(
    socket: string,
    steps: Steps,
    { answers = {}, index = '50' }: ProbeOptions = {},
  ): Promise<Probe> {
    const ready = Promise.withResolvers<void>();
    const mark = index === '50' ? '' : ` ${index}`;
    const handlers: PluginHandlers = {
      configure: (facts) => {
        const { runtimeName: _, runtimeVersion: __, nriVersion, ...others } = facts;
        steps.push({ name: `Configure${mark}`, message: { ...others, hasVersion: nriVersion !== '' } });
      },
      synchronize: (pods, containers) => {
        steps.push({ name: `Synchronize${mark}`, message: synchronizeMessage(pods, containers) });
        ready.resolve();
        return answers.synchronize?.(pods, containers) ?? [];
      },
    };
    const names: EventName[] = [...EVENT_NAMES_OF_PODS, 'validateContainerAdjustment'];
    for (const name of names) Object.assign(handlers, { [name]: recording(name, { steps, mark, answers }) });
    const plugin = await runPlugin({ name: 'probe', index, socket, handlers });
    await ready.promise;
    return new Probe(plugin, steps);
  }

  /** Sends an UpdateContainers request. */
  get update(): RunningPlugin['update'] {
    return this.#plugin.update;
  }

  /** Waits until the probe has recorded a step whose name starts with `name`. */
  async until(name: string): Promise<void> {
    const found = () => this.#steps.some((step) => step.name.startsWith(name)) || undefined;
    await waitFor(found, { intervalMs: 10, signal: AbortSignal.timeout(20_000) });
  }

  close(): void {
    this.#plugin.close();
  }
}

export type ProbeOptions = { answers?: Answers; index?: string };

/** Returns a handler that records the message, then calls the handler in `answers`. `mark` is a suffix for step names. */
function recording(
  name: EventName,
  { steps, mark, answers }: { steps: Steps; mark: string; answers: Answers },
): PluginHandlers[EventName] {
  const handler = async (request: never, signal: AbortSignal) => {
    const { container, pod } = request as { container?: Container; pod?: PodSandbox };
    const about = container?.name || container?.id || pod?.name || pod?.id;
    const method = Plugin.method[name];
    const json = toJson(method.input, request as never);
    const unknown = unknownFields(request as Message);
    const message = unknown.length === 0 ? json : { ...(json as object), unknownFields: unknown };
    steps.push({ name: `${method.name}${mark} ${about}`, message });
    const answer = answers[name] as ((request: never, signal: AbortSignal) => unknown) | undefined;
    return await answer?.(request, signal);
  };
  return handler as PluginHandlers[EventName];
}

const synchronizeMessage = (pods: PodSandbox[], containers: Container[]): JsonValue => ({
  pods: Object.fromEntries(pods.map((pod) => [pod.name, toJson(PodSandboxSchema, pod)])),
  containers: Object.fromEntries(containers.map((one) => [one.name, toJson(ContainerSchema, one)])),
});

/** Returns the names of message types that were received with fields unknown to Podwright's protobuf definitions. */
function unknownFields(message: Message): string[] {
  const found = message.$unknown === undefined || message.$unknown.length === 0 ? [] : [message.$typeName];
  for (const value of Object.values(message).flat())
    if (typeof value === 'object' && value !== null && '$typeName' in value)
      found.push(...unknownFields(value as Message));
  return found;
}
