import { type Message, toJson } from '@bufbuild/protobuf';
import { type ContainerEventResponse, ContainerEventType } from '@podwright/cri';
import { codeName } from '@podwright/grpc';
import type { CallObserver, SeenCall, SeenEnd } from '../exchange/observe.ts';
import { statusOfEnd } from '../exchange/status.ts';
import type { CallFacts, Facts } from '../methods/call-facts.ts';
import { type CriMethod, nameOfPath } from '../methods/cri-methods.ts';
import { decodeMessage } from '../methods/decode.ts';
import { matchesPattern, matchesPod } from '../methods/pattern.ts';
import { redactMessage } from '../methods/redact.ts';
import { podText } from '../methods/subject.ts';
import { durationText, plainLine } from './shown-text.ts';

export type DisplayOptions = {
  format: 'table' | 'json';
  /** Whether JSON lines include the requests and responses, with secrets redacted. */
  bodies: boolean;
  /** Patterns for methods and pods. A call is shown if it matches a pattern in each list; an empty list matches everything. */
  methods: string[];
  pods: string[];
};

/** Columns of the table of calls, with their widths. */
const COLUMNS = [
  ['TIME', 12],
  ['METHOD', 22],
  ['POD', 28],
  ['CONTAINER', 14],
  ['TOOK', 9],
  ['RESULT', 0],
] as const;

/** Writes calls as lines, either as a table for humans or as JSON. */
export class CallDisplay implements CallObserver {
  readonly #facts: CallFacts;
  readonly #options: DisplayOptions;
  readonly #write: (line: string) => void;
  /** The encoded responses of unary calls, retained until the calls are displayed. Used only with `bodies`. */
  readonly #answers = new WeakMap<SeenCall, Buffer>();

  constructor(facts: CallFacts, options: DisplayOptions, write: (line: string) => void) {
    this.#facts = facts;
    this.#options = options;
    this.#write = write;
    if (options.format === 'table') write(tableLine(COLUMNS.map(([title]) => title)));
  }

  onStart(call: SeenCall): void {
    if (!this.#isStream(call) || !this.#isShown(call)) return;
    if (this.#options.format === 'table') this.#row(call, { atMs: call.atMs, took: '', result: 'opened' });
    else this.#json(call, { time: time(call.atMs), stream: 'open', ...this.#body('request', call, call.request) });
  }

  onMessage(call: SeenCall, message: Buffer, atMs: number): void {
    if (!this.#isStream(call)) {
      if (this.#options.bodies) this.#answers.set(call, message);
      return;
    }
    if (!this.#isShown(call)) return;
    if (this.#options.format === 'json')
      return this.#json(call, { time: time(atMs), stream: 'message', ...this.#body('response', call, message) });
    const event = this.#eventOf(call, message);
    if (event !== undefined) this.#row(call, { atMs, took: '', ...event });
  }

  onEnd(call: SeenCall, end: SeenEnd): void {
    if (!this.#isShown(call)) return;
    const { code, message } = statusOfEnd(end);
    if (this.#options.format === 'table') {
      const faults = call.faults.length === 0 ? '' : ` [${call.faults.join('; ')}]`;
      const count = this.#isStream(call) ? `, ${end.messages} messages` : '';
      const result = `${codeName(code)}${code === 0 ? count : `: ${message}`}${faults}`;
      return this.#row(call, { atMs: call.atMs, took: durationText(end.tookMs), result });
    }
    this.#json(call, {
      time: time(call.atMs),
      ...(this.#isStream(call) && { stream: 'end' }),
      durationMs: Math.round(end.tookMs * 1000) / 1000,
      code: codeName(code),
      ...(code !== 0 && { error: message }),
      ...(call.faults.length > 0 && { script: call.faults }),
      requestBytes: call.request?.length,
      responseBytes: end.bytes,
      ...(!this.#isStream(call) && this.#body('request', call, call.request)),
      ...(!this.#isStream(call) && this.#body('response', call, this.#answers.get(call))),
    });
  }

  #isStream(call: SeenCall): boolean {
    return this.#facts.of(call).method?.kind === 'server_streaming';
  }

  #isShown(call: SeenCall): boolean {
    const { methods, pods } = this.#options;
    const name = nameOfPath(call.path);
    if (methods.length > 0 && !methods.some((pattern) => matchesPattern(pattern, name))) return false;
    const { subject } = this.#facts.of(call);
    return pods.length === 0 || pods.some((pattern) => matchesPod(pattern, subject));
  }

  #row(
    call: SeenCall,
    { atMs, took, result, facts = this.#facts.of(call) }: { atMs: number; took: string; result: string; facts?: Facts },
  ): void {
    const { subject } = facts;
    const cells = [clock(atMs), nameOfPath(call.path), podText(subject), subject?.container ?? '-', took, result];
    this.#write(tableLine(cells));
  }

  #json(call: SeenCall, fields: object): void {
    const { method, subject } = this.#facts.of(call);
    const service = call.path.slice(1, call.path.lastIndexOf('/'));
    const about = subject && { pod: podText(subject), container: subject.container };
    const { time, ...rest } = fields as { time: string };
    const line = { time, call: call.number, method: method?.name ?? nameOfPath(call.path), service, ...about, ...rest };
    // `JSON.stringify` does not escape all control and text direction characters; they occur only inside strings, where `\u` escapes are
    // equivalent
    this.#write(plainLine(JSON.stringify(line)));
  }

  #body(name: 'request' | 'response', call: SeenCall, message: Buffer | undefined): object {
    const { method } = this.#facts.of(call);
    if (!this.#options.bodies || method === undefined || message === undefined) return {};
    return { [name]: shownBody(method, name, message) };
  }

  #eventOf(call: SeenCall, message: Buffer): { result: string; facts: Facts } | undefined {
    const { method } = this.#facts.of(call);
    if (method?.name !== 'GetContainerEvents') return undefined;
    const event = decodeMessage(method.output, message) as ContainerEventResponse | undefined;
    if (event === undefined) return undefined;
    const { podSandboxStatus: pod, containersStatuses, containerId } = event;
    const container = containersStatuses.find(({ id }) => id === containerId)?.metadata?.name;
    const subject = pod?.metadata && { namespace: pod.metadata.namespace, pod: pod.metadata.name, container };
    return { result: ContainerEventType[event.containerEventType] ?? 'unknown event', facts: { method, subject } };
  }
}

function shownBody(method: CriMethod, name: 'request' | 'response', framed: Buffer): unknown {
  const schema = name === 'request' ? method.input : method.output;
  const message: Message | undefined = decodeMessage(schema, framed);
  if (message === undefined) return undefined;
  redactMessage(schema, message);
  return toJson(schema, message);
}

function tableLine(cells: string[]): string {
  return cells
    .map((cell, index) => plainLine(cell).padEnd(COLUMNS[index]![1]))
    .join('  ')
    .trimEnd();
}

const time = (ms: number) => new Date(ms).toISOString();
const clock = (ms: number) => time(ms).slice(11, 23);
