import { type ErrorCode, errorCodeOfStatus, PodwrightError } from '@podwright/base';
import { END_CODE } from '../http2/end-codes.ts';
import type { Http2Stream } from '../http2/http2-stream.ts';
import { errorCodeOfReset } from '../reset-codes.ts';
import { decodeStatusMessage } from '../status-message.ts';
import type { Session } from './session.ts';

/** Error codes for non-gRPC responses, by HTTP status ("HTTP to gRPC Status Code Mapping" in the gRPC documentation). */
const HTTP_CODES: Record<number, ErrorCode> = {
  400: 'internal',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'unimplemented',
  429: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/** The outcome of a call: the server's status, a response rejected by this client, or a stream that ended without a status. */
export class CallOutcome {
  readonly #stream: Http2Stream;
  readonly #session: Session;
  #isAnswered = false;
  #isLost = false;
  #status: { code: number; message: string } | undefined;
  #refusal: PodwrightError | undefined;
  readonly #ended = Promise.withResolvers<void>();

  /** Starts the call. `onData` receives the bytes of the response and must not retain them after it returns. */
  constructor(session: Session, request: { head: Buffer; body: Buffer }, onData: (bytes: Buffer) => void) {
    this.#session = session;
    this.#stream = session.begin(request, {
      onHeaders: (fields, isLast) => this.#receiveHeaders(new Map(fields), isLast),
      onData,
      onClose: () => {
        this.#isLost = session.isDestroyed;
        this.#ended.resolve();
      },
    });
  }

  /** Resolves once the server has ended the call's stream or either side has reset it. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether the outcome of the call is already known, even if its stream is still open or is reset later. */
  get isDecided(): boolean {
    return this.#status !== undefined || this.#refusal !== undefined;
  }

  /** Whether the server is known not to have processed the call ("Transparent Retries" in gRPC's A6). Valid once the call has ended. */
  get isUnprocessed(): boolean {
    if (this.#isAnswered || this.isDecided) return false;
    return this.#stream.closeCode === END_CODE.refusedStream || this.#session.hasPassedOver(this.#stream);
  }

  /** Returns consumed bytes to the stream's receive window. */
  take(bytes: number): void {
    this.#stream.take(bytes);
  }

  /**
   * Ends the stream on this side immediately, even if the server is not reading; the server receives the reset the next time it reads. A
   * status that has already been received remains the outcome of the call.
   */
  cut(): void {
    this.#stream.cut();
  }

  /** Rejects the response with this error and resets the stream. */
  refuse(why: PodwrightError): void {
    this.#refusal ??= why;
    this.cut();
  }

  /**
   * Returns the call's error: the server's, unchanged, or `lost()` if the connection was lost. Returns `undefined` if the call succeeded.
   * Valid once the call has ended.
   */
  error(lost: () => PodwrightError): PodwrightError | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    if (this.#status?.code === 0) return undefined;
    if (this.#status !== undefined) return errorOfStatus(this.#status.code, this.#status.message);
    if (this.#isLost) return lost();
    const { closeCode = END_CODE.internalError } = this.#stream;
    if (closeCode === END_CODE.noError) return new PodwrightError('internal', 'the call ended without a status');
    return new PodwrightError(errorCodeOfReset(closeCode), `the call was reset, code ${closeCode}`);
  }

  #receiveHeaders(fields: ReadonlyMap<string, string>, isLast: boolean): void {
    if (fields.get(':status')?.startsWith('1')) return; // an informational (1xx) response: the final one follows
    if (this.#isAnswered && !isLast) return this.#stream.cut(END_CODE.protocolError);
    const code = fields.get('grpc-status');
    if (code !== undefined)
      this.#status = { code: Number(code), message: decodeStatusMessage(fields.get('grpc-message') ?? '') };
    else if (!this.#isAnswered) this.#refuseForeign(fields);
    this.#isAnswered = true;
  }

  /** Rejects a non-gRPC response without reading its body, which is meaningless and might never end. */
  #refuseForeign(fields: ReadonlyMap<string, string>): void {
    const [status, type = 'none'] = [Number(fields.get(':status')), fields.get('content-type')];
    if (status !== 200)
      this.refuse(new PodwrightError(HTTP_CODES[status] ?? 'unknown', `HTTP status ${status}, not gRPC`));
    else if (!type.startsWith('application/grpc'))
      this.refuse(new PodwrightError('unknown', `an answer of content-type ${type}, not gRPC`));
  }
}

function errorOfStatus(code: number, message: string): PodwrightError {
  // containerd 2.2 does not implement UpdatePodSandboxResources, but only its error message says so, not the status code
  if (errorCodeOfStatus(code) === 'unknown' && /\bnot implemented$/.test(message))
    return new PodwrightError('unimplemented', message);
  return new PodwrightError(errorCodeOfStatus(code), message);
}
