import { create, type DescMessage, type DescMethod, fromBinary, toBinary } from '@bufbuild/protobuf';
import { sleep } from '@podwright/base';
import { type CallContext, type TypedService, unimplemented } from '@podwright/grpc';
import type { CriClient } from '../client/connect.ts';
import { ContainerEventType, ImageService, ImageTransfers, RuntimeService, Traces } from '../messages.ts';
import type { ImageHandlers, RuntimeHandlers } from '../server/handlers.ts';
import { fakeImage, fakeImageService } from './fake-image-service.ts';
import { type FakeExec, fakeRuntimeService } from './fake-runtime-service.ts';
import { type FakeContainer, type FakeSandbox, FakeStore } from './fake-store.ts';

/** A method of either CRI service, by its local name. */
export type CriMethod = keyof RuntimeHandlers | keyof ImageHandlers;

export type Fault = {
  /** How long to delay the call, in milliseconds. The delay ends early if the call is aborted. */
  delayMs?: number;
  error?: Error;
  /**
   * When the fault occurs. With `before`, the default, the call has no effect. With `after`, it takes effect and only its response is lost.
   */
  when?: 'before' | 'after';
  /** How many calls are affected; all if omitted. */
  times?: number;
};

export type FakeCall = { method: CriMethod; request: object };

type Handler = (request: object, context: Pick<CallContext, 'signal'>) => unknown;

/**
 * An in-memory container runtime for testing its clients: sandboxes and containers change state and publish events as the CRI specifies,
 * but no processes run. A container exits when the test calls `exitContainer`.
 *
 * Use `client` in the same process, or pass `handlers` to `createCriServer`.
 */
export class FakeRuntime {
  readonly #store: FakeStore;
  readonly #faults = new Map<CriMethod, Fault>();
  readonly handlers: { runtime: Partial<RuntimeHandlers>; image: Partial<ImageHandlers> };
  /** A client that calls the handlers without a socket. */
  readonly client: CriClient;
  readonly calls: FakeCall[] = [];

  /**
   * `images` exist from the start. Other images can be pulled if `inRegistry` returns true; by default, it does so for all images. `exec`
   * handles ExecSync; by default, every command succeeds without output. `now` returns milliseconds since the epoch. With `sharesMessages`,
   * client and handlers share message objects instead of exchanging copies as over a socket, because copying accounts for most of a call's
   * time.
   */
  constructor(
    options: {
      images?: string[];
      inRegistry?: (name: string) => boolean;
      exec?: FakeExec;
      now?: () => number;
      sharesMessages?: boolean;
    } = {},
  ) {
    this.#store = new FakeStore(options.now ?? Date.now);
    for (const name of options.images ?? []) this.#store.images.set(name, fakeImage(name));
    const runtime = fakeRuntimeService(this.#store, options.exec ?? (() => ({ exitCode: 0 })));
    const image = fakeImageService(this.#store, options.inRegistry ?? (() => true));
    this.handlers = { runtime: this.#withFaults(runtime), image: this.#withFaults(image) };
    const deliver = options.sharesMessages ? asMessage : overTheWire;
    this.client = {
      runtime: directClient(RuntimeService, this.handlers.runtime, deliver) as CriClient['runtime'],
      image: directClient(ImageService, this.handlers.image, deliver) as CriClient['image'],
      transfers: directClient(ImageTransfers, {}, deliver) as CriClient['transfers'],
      traces: directClient(Traces, {}, deliver) as CriClient['traces'],
      apiVersion: 'v1',
      close: () => undefined,
    };
  }

  /** Injects a fault into future calls of `method`. Replaces any earlier fault for the method. */
  inject(method: CriMethod, fault: Fault): void {
    this.#faults.set(method, fault);
  }

  get sandboxes(): FakeSandbox[] {
    return [...this.#store.sandboxes.values()];
  }

  get containers(): FakeContainer[] {
    return [...this.#store.containers.values()];
  }

  /** Returns the latest container with that name, or the container with that ID. Throws `not_found` if there is none. */
  containerNamed(name: string): FakeContainer {
    const found = this.containers.findLast(({ config }) => config.metadata?.name === name);
    return found ?? this.#store.container(name);
  }

  exitContainer(id: string, how: { exitCode: number; reason?: string; message?: string }): void {
    this.#store.exit(this.#store.container(id), how, ContainerEventType.CONTAINER_STOPPED_EVENT);
  }

  #withFaults<T extends object>(handlers: T): T {
    const wrap = ([name, handler]: [string, Handler]): [string, Handler] => {
      const method = name as CriMethod;
      return [name, method === 'getContainerEvents' ? handler : (...call) => this.#call({ method, handler }, ...call)];
    };
    return Object.fromEntries(Object.entries(handlers).map(wrap)) as T;
  }

  async #call(
    { method, handler }: { method: CriMethod; handler: Handler },
    request: object,
    context: Pick<CallContext, 'signal'>,
  ): Promise<unknown> {
    this.calls.push({ method, request });
    const fault = this.#takeFault(method);
    if (fault?.delayMs !== undefined) await sleep(fault.delayMs, context.signal);
    if (fault?.error !== undefined && fault.when !== 'after') throw fault.error;
    const response = await handler(request, context);
    if (fault?.error !== undefined) throw fault.error;
    return response;
  }

  #takeFault(method: CriMethod): Fault | undefined {
    const fault = this.#faults.get(method);
    if (fault?.times === undefined) return fault;
    if (fault.times <= 1) this.#faults.delete(method);
    else this.#faults.set(method, { ...fault, times: fault.times - 1 });
    return fault;
  }
}

/** Passes a message to the other side of a call, either as is or as a copy. */
type Deliver = (schema: DescMessage, fields: object) => object;

/** Creates a client that calls the handlers of a service in the same process, without a socket. */
function directClient(service: TypedService, handlers: object, deliver: Deliver): object {
  const byName = handlers as Record<string, Handler | undefined>;
  return Object.fromEntries(
    service.methods.map((method) => {
      const handler = byName[method.localName];
      return [
        method.localName,
        method.methodKind === 'unary' ? directUnary(method, handler, deliver) : directStream(method, handler, deliver),
      ];
    }),
  );
}

type DirectCall = [request: object, options?: { signal?: AbortSignal }];

function directUnary(method: DescMethod, handler: Handler | undefined, deliver: Deliver) {
  return async (...[request, options]: DirectCall) => {
    options?.signal?.throwIfAborted();
    if (handler === undefined) throw unimplemented(method);
    const signal = options?.signal ?? new AbortController().signal;
    const response = await handler(deliver(method.input, request), { signal });
    return deliver(method.output, response as object);
  };
}

function directStream(method: DescMethod, handler: Handler | undefined, deliver: Deliver) {
  return (...[request, options]: DirectCall): AsyncIterable<object> => {
    const signal = options?.signal ?? new AbortController().signal;
    const responses = handler?.(deliver(method.input, request), { signal }) as AsyncIterable<object> | undefined;
    return (async function* () {
      if (responses === undefined) throw unimplemented(method);
      for await (const response of responses) yield deliver(method.output, response);
      signal.throwIfAborted();
    })();
  };
}

/** Returns the message itself, with omitted fields set to their defaults. */
function asMessage(schema: DescMessage, fields: object): object {
  return create(schema, fields as Record<string, unknown>);
}

/** Returns a copy that shares nothing with the original, as if received over a socket. */
function overTheWire(schema: DescMessage, fields: object): object {
  return fromBinary(schema, toBinary(schema, create(schema, fields as Record<string, unknown>)));
}
