import { createReadStream, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type DescMessage, fromBinary, fromJson, type JsonValue, type Message } from '@bufbuild/protobuf';
import { errorMessage, isRecord, PodwrightError, wrapError } from '@podwright/base';
import type { HeaderField } from '@podwright/grpc';
import type { CriMethod } from '../methods/cri-methods.ts';
import { RECORDING_FORMAT, RECORDING_VERSION } from './format.ts';

/** Maximum size of a recording to replay. Recordings are loaded into memory. */
const MAX_BYTES = 1 << 30;
/** Maximum error of recorded times, in milliseconds. Larger differences mean that the clock was changed. */
const TIME_ERROR_MS = 100;

/** A recorded call of a known method. Times are in ms since the epoch. */
export type RecordedCall = {
  method: CriMethod;
  atMs: number;
  /** When the call ended; `Infinity` if it is a stream that had not ended. */
  endMs: number;
  request: Message;
  answers: { atMs: number; message: Message }[];
  /** The gRPC status, if the call failed. `trailers` then contains any additional trailers, such as error details. */
  status?: { code: number; message: string };
  trailers?: HeaderField[];
};

export type Recording = {
  startedAtMs: number;
  calls: RecordedCall[];
  /** Messages to the user about parts of the recording that were skipped. */
  warnings: string[];
};

type Line = Record<string, unknown>;

/**
 * Reads a recording. Throws `invalid_argument` with the line number if the file is not a recording of this version or contains an invalid
 * line. Two things are skipped with a warning: an incomplete last line, as left by a crash or a full disk, and calls of unknown methods.
 */
export async function readRecording(file: string, methods: ReadonlyMap<string, CriMethod>): Promise<Recording> {
  const reader = new RecordingReader(file, methods);
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES)
      throw new PodwrightError('resource_exhausted', `it has ${size} bytes, more than ${MAX_BYTES}`);
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY }))
      reader.add(line);
  } catch (error) {
    if (error instanceof RecordingProblem) throw error;
    throw wrapError(`read the recording ${file}`, error);
  }
  return reader.end();
}

class RecordingProblem extends PodwrightError {}

class RecordingReader {
  readonly #file: string;
  readonly #methods: ReadonlyMap<string, CriMethod>;
  readonly #calls: RecordedCall[] = [];
  readonly #streams = new Map<unknown, RecordedCall>();
  readonly #unknown = new Map<string, number>();
  #startedAtMs: number | undefined;
  #lastEndMs = 0;
  #line = 0;
  /** The error for the last line read, thrown only if another line follows: an incomplete last line of the file is not an error. */
  #broken: RecordingProblem | undefined;

  constructor(file: string, methods: ReadonlyMap<string, CriMethod>) {
    this.#file = file;
    this.#methods = methods;
  }

  add(text: string): void {
    if (this.#broken !== undefined) throw this.#broken;
    this.#line++;
    if (text.trim() === '') return;
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch (error) {
      if (this.#startedAtMs === undefined) throw this.#problem('this is not a recording of the CRI');
      this.#broken = this.#problem(errorMessage(error));
      return;
    }
    if (!isRecord(line)) throw this.#problem('the line is not a JSON object');
    if (this.#startedAtMs === undefined) this.#readHeader(line);
    else this.#readLine(line);
  }

  end(): Recording {
    if (this.#startedAtMs === undefined) throw this.#problem('this is not a recording of the CRI');
    const warnings = [...this.#unknown].map(
      ([path, count]) => `${count} calls of the unknown method ${path} are left out`,
    );
    if (this.#broken !== undefined) warnings.push(`the recording is truncated: line ${this.#line} is incomplete`);
    return { startedAtMs: this.#startedAtMs, calls: this.#calls.sort((a, b) => a.atMs - b.atMs), warnings };
  }

  #readHeader(line: Line): void {
    if (line.recording !== RECORDING_FORMAT) throw this.#problem('this is not a recording of the CRI');
    if (line.version !== RECORDING_VERSION)
      throw this.#problem(`the recording has version ${line.version}; this program reads version ${RECORDING_VERSION}`);
    this.#startedAtMs = this.#time(line, 'startedAt');
  }

  #readLine(line: Line): void {
    const atMs = this.#time(line, 'at');
    const stream = this.#streams.get(line.call);
    if (typeof line.method === 'string') return this.#readCall(line, atMs);
    if (stream === undefined) return; // the method of the stream is unknown
    if (line.stream === 'end') {
      Object.assign(stream, { endMs: atMs, ...this.#ending(line) });
      this.#streams.delete(line.call);
    } else stream.answers.push({ atMs, message: this.#message(line, 'response', stream.method.output)! });
  }

  #readCall(line: Line, atMs: number): void {
    const method = this.#methods.get(line.method as string);
    if (method === undefined) {
      this.#unknown.set(line.method as string, (this.#unknown.get(line.method as string) ?? 0) + 1);
      return;
    }
    const request = this.#message(line, 'request', method.input);
    if (request === undefined) return; // the client ended the call before it sent the request
    const call: RecordedCall = { method, atMs, endMs: Number.POSITIVE_INFINITY, request, answers: [] };
    this.#calls.push(call);
    if (line.stream === 'open') return void this.#streams.set(line.call, call);
    call.endMs = this.#endAfter(atMs + this.#number(line, 'tookMs'));
    const answer = this.#message(line, 'response', method.output);
    if (answer !== undefined) call.answers.push({ atMs: call.endMs, message: answer });
    Object.assign(call, this.#ending(line));
  }

  /**
   * Returns the end time of a call, corrected if it is slightly before that of the previous one. Calls are recorded in the order in which
   * they ended, but the recorded times are inexact, so a short call might appear to end before the one it followed.
   */
  #endAfter(endMs: number): number {
    const isInexact = endMs < this.#lastEndMs && endMs > this.#lastEndMs - TIME_ERROR_MS;
    this.#lastEndMs = isInexact ? this.#lastEndMs : endMs;
    return this.#lastEndMs;
  }

  #ending({ status, trailers }: Line): Pick<RecordedCall, 'status' | 'trailers'> {
    if (status === undefined) return {};
    if (!isRecord(status) || typeof status.code !== 'number' || typeof status.message !== 'string')
      throw this.#problem('"status" needs a code and a message');
    const fields = (Array.isArray(trailers) ? trailers : []).filter(
      (one): one is [string, string] =>
        Array.isArray(one) && one.length === 2 && one.every((part) => typeof part === 'string'),
    );
    return { status: { code: status.code, message: status.message }, trailers: fields };
  }

  #message(line: Line, name: 'request' | 'response', schema: DescMessage): Message | undefined {
    const bytes = line[`${name}Bytes`];
    try {
      if (typeof bytes === 'string') return fromBinary(schema, Buffer.from(bytes, 'base64'));
      return line[name] === undefined ? undefined : fromJson(schema, line[name] as JsonValue);
    } catch (error) {
      throw this.#problem(`"${name}": ${errorMessage(error)}`);
    }
  }

  #number(line: Line, field: string): number {
    const value = line[field];
    if (typeof value === 'number' && value >= 0) return value;
    throw this.#problem(`"${field}" is not a number`);
  }

  #time(line: Line, field: string): number {
    const ms = Date.parse(String(line[field]));
    if (Number.isNaN(ms)) throw this.#problem(`"${field}" is not a time`);
    return ms;
  }

  #problem(message: string): RecordingProblem {
    return new RecordingProblem('invalid_argument', `${this.#file}:${Math.max(1, this.#line)}: ${message}`);
  }
}
