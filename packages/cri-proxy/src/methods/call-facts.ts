import type { Message } from '@bufbuild/protobuf';
import type { CallObserver, SeenCall } from '../exchange/observe.ts';
import type { CriMethod } from './cri-methods.ts';
import { decodeMessage } from './decode.ts';
import { KnownPods } from './known-pods.ts';
import type { Subject } from './subject.ts';

/** The method of a call and the pod or container it is about. `method` is absent if it is unknown to this version. */
export type Facts = { method?: CriMethod; subject?: Subject };

/**
 * Determines the methods, pods and containers of calls. Must be the first observer, because the others depend on the IDs it learns from
 * responses.
 */
export class CallFacts implements CallObserver {
  readonly methods: ReadonlyMap<string, CriMethod>;
  readonly #pods = new KnownPods();
  readonly #facts = new WeakMap<SeenCall, Facts>();

  constructor(methods: ReadonlyMap<string, CriMethod>) {
    this.methods = methods;
  }

  of(call: SeenCall): Facts {
    const known = this.#facts.get(call);
    if (known !== undefined) return known;
    const facts = this.ofRequest(call.path, call.request);
    this.#facts.set(call, facts);
    return facts;
  }

  /** Returns the method of a request, and the pod or container it is about. `request` is its message in wire format. */
  ofRequest(path: string, request: Buffer | undefined): Facts {
    const method = this.methods.get(path);
    if (method === undefined || request === undefined) return { method };
    const message: Message | undefined = decodeMessage(method.input, request);
    return { method, subject: this.#pods.subjectOf(method.name, message) };
  }

  onStart(call: SeenCall): void {
    this.of(call);
  }

  onMessage(call: SeenCall, message: Buffer): void {
    const { method, subject } = this.of(call);
    if (method === undefined || !this.#pods.learnsFrom(method.name)) return;
    const answer = decodeMessage(method.output, message);
    if (answer !== undefined) this.#pods.learn(method.name, subject, answer);
  }

  onEnd(): void {}
}
