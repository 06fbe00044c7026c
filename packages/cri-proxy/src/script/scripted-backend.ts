import { PodwrightError, sleep } from '@podwright/base';
import type { Backend, ProxyAnswer, ProxyRequest } from '../exchange/backend.ts';
import { failedAnswer, failedEnd } from '../exchange/made-answer.ts';
import type { CallFacts } from '../methods/call-facts.ts';
import { nameOfPath } from '../methods/cri-methods.ts';
import { RuleChoice } from './choose-rule.ts';
import { HeldCalls, reordered } from './reorder.ts';
import type { Effects, Rule, Script } from './script.ts';

/** HTTP/2 error code for a cut call: INTERNAL_ERROR. */
const CUT_CODE = 2;

export type ScriptOptions = {
  script: Script;
  random: () => number;
  facts: CallFacts;
  /** Called with a description of each rule that is applied to a call. */
  addFault(request: ProxyRequest, fault: string): void;
};

/** A script with its counters and random number generator, which are shared by all clients' calls. */
export class RunningScript {
  readonly #options: ScriptOptions;
  readonly #choice: RuleChoice;
  readonly #held = new Map<Rule, HeldCalls>();

  constructor(options: ScriptOptions) {
    this.#options = options;
    this.#choice = new RuleChoice(options.script, options.random);
  }

  /** Returns a backend that applies the script to calls to the given backend. */
  scripted(backend: Backend): Backend {
    return async (request) => {
      const { facts, addFault } = this.#options;
      const { method, subject } = facts.ofRequest(request.path, request.message);
      const rule = this.#choice.choose({ method: method?.name ?? nameOfPath(request.path), subject });
      if (rule === undefined) return await backend(request);
      addFault(request, `line ${rule.line}: ${effectsText(rule.effects)}`);
      return await this.#change(request, rule, { backend, isStream: method?.kind !== 'unary' });
    };
  }

  async #change(
    request: ProxyRequest,
    rule: Rule,
    { backend, isStream }: { backend: Backend; isStream: boolean },
  ): Promise<ProxyAnswer> {
    const { fail, cut, delayMs, jitterMs, delayAnswerMs, repeat } = rule.effects;
    await delay(delayMs + (jitterMs > 0 ? jitterMs * this.#options.random() : 0), request);
    if (fail?.when === 'before') return failedAnswer(new PodwrightError(fail.code, fail.message));
    if (cut !== undefined && cut.afterMessages === undefined) return cutAnswer(request, cut, emptyAnswer());
    const cutShort = (answer: ProxyAnswer) => (cut === undefined ? answer : cutAnswer(request, cut, answer));
    if (isStream) return cutShort(this.#changeStream(request, rule, await backend(request)));
    for (let times = 0; times < repeat; times++) await wholeAnswer(await backend(request));
    const answer = await wholeAnswer(await backend(request));
    if (rule.effects.reorder !== undefined) await this.#heldOf(rule, rule.effects.reorder).hold();
    await delay(delayAnswerMs, request);
    return cutShort(fail === undefined ? answer : failedAnswer(new PodwrightError(fail.code, fail.message)));
  }

  #changeStream(request: ProxyRequest, rule: Rule, answer: ProxyAnswer): ProxyAnswer {
    const { fail, delayAnswerMs, repeat, reorder } = rule.effects;
    const { random } = this.#options;
    const ordered = reorder === undefined ? answer.messages : reordered(answer.messages, { ...reorder, random });
    async function* messages() {
      for await (const message of ordered) {
        await delay(delayAnswerMs, request);
        for (let times = 0; times <= repeat; times++) yield message;
      }
    }
    const end = async () =>
      fail === undefined ? await answer.end() : failedEnd(new PodwrightError(fail.code, fail.message));
    return { headers: answer.headers, messages: messages(), end };
  }

  #heldOf(rule: Rule, reorder: NonNullable<Effects['reorder']>): HeldCalls {
    const held = this.#held.get(rule) ?? new HeldCalls({ ...reorder, random: this.#options.random });
    this.#held.set(rule, held);
    return held;
  }
}

async function delay(ms: number, { signal }: ProxyRequest): Promise<void> {
  if (ms > 0) await sleep(ms, signal);
}

/** Reads a response until the call has ended. Returns an identical response, which can be sent later. */
async function wholeAnswer({ headers, messages, end }: ProxyAnswer): Promise<ProxyAnswer> {
  const all: Buffer[] = [];
  for await (const message of messages) all.push(message);
  const ended = await end();
  async function* again() {
    yield* all;
  }
  return { headers, messages: again(), end: async () => ended };
}

function emptyAnswer(): ProxyAnswer {
  async function* messages(): AsyncGenerator<Buffer> {}
  return { headers: undefined, messages: messages(), end: async () => ({ kind: 'trailers', fields: [] }) };
}

/** Resets the call or closes the connection after `afterMessages` messages of the response (default: 0), unless it has fewer. */
function cutAnswer(
  request: ProxyRequest,
  { what, afterMessages: count = 0 }: NonNullable<Effects['cut']>,
  answer: ProxyAnswer,
): ProxyAnswer {
  let isCut = false;
  async function* messages() {
    let sent = 0;
    for await (const message of answer.messages) {
      isCut = sent === count;
      if (isCut) return;
      sent++;
      yield message;
    }
    isCut = sent === count;
  }
  const end = async (): ReturnType<ProxyAnswer['end']> => {
    if (!isCut) return await answer.end();
    if (what === 'connection') request.cutConnection();
    return { kind: 'reset', code: CUT_CODE };
  };
  return { headers: answer.headers, messages: messages(), end };
}

function effectsText({ delayMs, jitterMs, fail, cut, repeat, reorder, delayAnswerMs }: Effects): string {
  return [
    delayMs > 0 && `delayed ${delayMs} ms`,
    jitterMs > 0 && `jitter ${jitterMs} ms`,
    fail && `fails ${fail.when} the runtime`,
    cut && `${cut.what} cut`,
    repeat > 0 && `repeated ${repeat} times`,
    reorder && 'reordered',
    delayAnswerMs > 0 && `answer delayed ${delayAnswerMs} ms`,
  ]
    .filter(Boolean)
    .join(', ');
}
