import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { toBinary, toJson } from '@bufbuild/protobuf';
import { errorMessage, type Logger, PRIVATE_FILE, wrapError } from '@podwright/base';
import type { HeaderField } from '@podwright/grpc';
import type { CallObserver, SeenCall, SeenEnd } from '../exchange/observe.ts';
import { statusOfEnd } from '../exchange/status.ts';
import type { CallFacts } from '../methods/call-facts.ts';
import type { CriMethod } from '../methods/cri-methods.ts';
import { decodeMessage } from '../methods/decode.ts';
import { redactMessage } from '../methods/redact.ts';
import {
  type EndLine,
  type MessageLine,
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordingHeader,
  type StreamLine,
  type UnaryLine,
} from './format.ts';

/** Trailers omitted from recordings, because `status` contains their values or every call has them. */
const USUAL_TRAILERS: ReadonlySet<string> = new Set([':status', 'content-type', 'grpc-status', 'grpc-message']);

/**
 * Writes calls to a recording, with secrets redacted. Bodies are omitted for methods unknown to this version, because their secrets are
 * unknown too. If the file cannot be written, the recording ends, but calls are still forwarded.
 */
export class Recorder implements CallObserver {
  readonly #facts: CallFacts;
  readonly #file: RecordingFile;
  readonly #answers = new WeakMap<SeenCall, Buffer>();

  constructor(facts: CallFacts, file: RecordingFile) {
    this.#facts = facts;
    this.#file = file;
  }

  onStart(call: SeenCall): void {
    const method = this.#streamOf(call);
    if (method === undefined) return;
    const line: StreamLine = { ...identity(call), method: call.path, stream: 'open', ...this.#request(call) };
    this.#file.write(line);
  }

  onMessage(call: SeenCall, message: Buffer, atMs: number): void {
    const method = this.#streamOf(call);
    if (method === undefined) return void this.#answers.set(call, message);
    const line: MessageLine = { call: call.number, at: time(atMs), ...this.#response(call, message) };
    this.#file.write(line);
  }

  onEnd(call: SeenCall, end: SeenEnd): void {
    const ending = { tookMs: Math.round(end.tookMs * 1000) / 1000, ...endingOf(end) };
    if (this.#streamOf(call) !== undefined) {
      const line: EndLine = { call: call.number, at: time(end.atMs), stream: 'end', ...ending };
      return this.#file.write(line);
    }
    const bodies = { ...this.#request(call), ...this.#response(call, this.#answers.get(call)) };
    const line: UnaryLine = { ...identity(call), method: call.path, ...ending, ...bodies };
    this.#file.write(line);
  }

  #streamOf(call: SeenCall): CriMethod | undefined {
    const { method } = this.#facts.of(call);
    return method?.kind === 'server_streaming' ? method : undefined;
  }

  #request(call: SeenCall): object {
    return this.#body(call, 'request', call.request);
  }

  #response(call: SeenCall, message: Buffer | undefined): object {
    return this.#body(call, 'response', message);
  }

  #body(call: SeenCall, name: 'request' | 'response', framed: Buffer | undefined): object {
    const { method } = this.#facts.of(call);
    if (method === undefined || framed === undefined) return {};
    const schema = name === 'request' ? method.input : method.output;
    const message = decodeMessage(schema, framed);
    if (message === undefined) return {};
    const hasUnknown = redactMessage(schema, message);
    const whole = hasUnknown ? { [`${name}Bytes`]: Buffer.from(toBinary(schema, message)).toString('base64') } : {};
    return { [name]: toJson(schema, message), ...whole };
  }
}

/** A recording's file, readable only by its owner. */
export class RecordingFile {
  readonly #path: string;
  readonly #logger: Logger;
  #descriptor: number | undefined;

  /** Throws if the file cannot be created or already exists. Recordings are never overwritten. */
  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    try {
      this.#descriptor = openSync(path, 'wx', PRIVATE_FILE);
    } catch (error) {
      throw wrapError(`record to ${path}`, error);
    }
    const header: RecordingHeader = {
      recording: RECORDING_FORMAT,
      version: RECORDING_VERSION,
      startedAt: time(Date.now()),
    };
    this.write(header);
  }

  /** Whether all calls have been written to the recording. */
  get isWhole(): boolean {
    return this.#descriptor !== undefined;
  }

  write(line: object): void {
    if (this.#descriptor === undefined) return;
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
    } catch (error) {
      this.#logger.error(
        { file: this.#path, error: errorMessage(error) },
        'cannot write the recording, which ends here',
      );
      this.close();
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Closes and removes the recording's file, for a proxy that failed to start. */
  discard(): void {
    this.close();
    rmSync(this.#path, { force: true });
  }
}

const time = (ms: number) => new Date(ms).toISOString();
const identity = (call: SeenCall) => ({ call: call.number, at: time(call.atMs) });

function endingOf(end: SeenEnd): object {
  const status = statusOfEnd(end);
  const fields = end.end.kind === 'trailers' ? end.end.fields : [];
  const trailers = fields.filter(([name]: HeaderField) => !USUAL_TRAILERS.has(name));
  return { ...(status.code !== 0 && { status }), ...(trailers.length > 0 && { trailers }) };
}
