import type { HeaderField, RawEnd } from '@podwright/grpc';
import type { Backend, ProxyAnswer, ProxyRequest } from './backend.ts';

/** A call received by the proxy. */
export type SeenCall = {
  /** Sequence number of the call, starting at 1. */
  readonly number: number;
  readonly path: string;
  readonly fields: readonly HeaderField[];
  /** The request message, if the method is known. */
  readonly request: Buffer | undefined;
  /** When the proxy received the call, in Unix milliseconds. */
  readonly atMs: number;
  /** What a script did to the call. */
  readonly faults: string[];
};

/** The end of a call. `kind` is `error` if the backend could not make the call. `messages` and `bytes` count those of the response. */
export type SeenEnd = {
  atMs: number;
  tookMs: number;
  end: RawEnd | { kind: 'error'; error: unknown };
  messages: number;
  bytes: number;
};

/**
 * Observes calls. Its functions are called for the start, each response message and the end of a call, after the client has received them,
 * and must not throw.
 */
export type CallObserver = {
  onStart(call: SeenCall): void;
  onMessage(call: SeenCall, message: Buffer, atMs: number): void;
  onEnd(call: SeenCall, end: SeenEnd): void;
};

/** Reports a backend's calls to observers, in order. The reports are deferred with `setImmediate`, so that they do not delay the calls. */
export class CallWatch {
  readonly #observers: readonly CallObserver[];
  readonly #waiting: (() => void)[] = [];
  readonly #calls = new WeakMap<ProxyRequest, SeenCall>();
  #count = 0;

  constructor(observers: readonly CallObserver[]) {
    this.#observers = observers;
  }

  /** Records how a script modified a call. */
  addFault(request: ProxyRequest, fault: string): void {
    this.#calls.get(request)?.faults.push(fault);
  }

  /** Returns a backend that forwards calls to the given backend and reports them to the observers. */
  watched(backend: Backend): Backend {
    return async (request) => {
      const { path, fields, message, receivedAtMs } = request;
      const seen: SeenCall = {
        number: ++this.#count,
        path,
        fields,
        request: message,
        atMs: Date.now() - (performance.now() - receivedAtMs),
        faults: [],
      };
      this.#calls.set(request, seen);
      this.#later((observer) => observer.onStart(seen));
      const sizes = { messages: 0, bytes: 0 };
      const finish = (end: SeenEnd['end']) => {
        const took = { atMs: Date.now(), tookMs: performance.now() - receivedAtMs };
        this.#later((observer) => observer.onEnd(seen, { ...took, ...sizes, end }));
      };
      try {
        return this.#answer(seen, await backend(request), { sizes, finish });
      } catch (error) {
        finish({ kind: 'error', error });
        throw error;
      }
    };
  }

  /** Flushes the deferred reports to the observers. */
  flush(): void {
    for (const inform of this.#waiting.splice(0)) inform();
  }

  #answer(
    seen: SeenCall,
    answer: ProxyAnswer,
    { sizes, finish }: { sizes: { messages: number; bytes: number }; finish: (end: SeenEnd['end']) => void },
  ): ProxyAnswer {
    const later = (message: Buffer) => {
      const atMs = Date.now();
      this.#later((observer) => observer.onMessage(seen, message, atMs));
    };
    async function* messages() {
      try {
        for await (const message of answer.messages) {
          sizes.messages++;
          sizes.bytes += message.length;
          later(message);
          yield message;
        }
      } finally {
        finish(await answer.end());
      }
    }
    return { ...answer, messages: messages() };
  }

  #later(inform: (observer: CallObserver) => void): void {
    if (this.#observers.length === 0) return;
    if (this.#waiting.length === 0) setImmediate(() => this.flush());
    this.#waiting.push(() => {
      for (const observer of this.#observers) inform(observer);
    });
  }
}
