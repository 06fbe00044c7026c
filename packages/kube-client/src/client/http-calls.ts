import type { KubeObject, Resource } from '@podwright/kube-api';
import type { CallOptions, ListOf, WatchEvent } from '../kube-client.ts';
import { MAX_LIST_BYTES, MAX_OBJECT_BYTES } from '../limits.ts';
import type { Caller } from './caller.ts';
import type { Call, Calls, WatchCallOptions } from './calls.ts';
import { decodeList, decodeObject } from './decode-object.ts';
import { watchEvents } from './watch-stream.ts';

/** Sends each call as one HTTP request, with JSON bodies. */
export class HttpCalls implements Calls {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async object<T extends KubeObject>(call: Call, options?: CallOptions): Promise<T> {
    return decodeObject(call.what, await this.#caller.text(call, MAX_OBJECT_BYTES, options));
  }

  async list<T extends KubeObject>(call: Call, resource: Resource, options?: CallOptions): Promise<ListOf<T>> {
    return decodeList(call.what, await this.#caller.text(call, MAX_LIST_BYTES, options), resource);
  }

  async done(call: Call, options?: CallOptions): Promise<void> {
    await this.#caller.text(call, MAX_LIST_BYTES, options);
  }

  text(call: Call, options?: CallOptions): Promise<string> {
    return this.#caller.text(call, MAX_OBJECT_BYTES, options);
  }

  async *watch<T extends KubeObject>(
    call: Call,
    { onOpen, sendInitialEvents }: WatchCallOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    const answer = await this.#caller.open(call, signal);
    onOpen?.();
    yield* watchEvents<T>(call.what, answer, sendInitialEvents ? MAX_LIST_BYTES : undefined);
  }
}
