import { type ErrorCode, errorCodeOfStatus, PodwrightError } from '@podwright/base';
import { END_CODE } from '../http2/end-codes.ts';
import type { Http2Stream } from '../http2/http2-stream.ts';

import type { Session } from './session.ts';

/** What an answer means that is none of gRPC, by its HTTP status ("HTTP to gRPC Status Code Mapping" of gRPC's documentation). */
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

/** What a stream means that the other side has reset ("Errors" of gRPC's PROTOCOL-HTTP2.md). */
const RESET_CODES: Record<number, ErrorCode> = {
  [END_CODE.refusedStream]: 'unavailable',
  [END_CODE.cancel]: 'cancelled',
  [END_CODE.enhanceYourCalm]: 'resource_exhausted',
  [END_CODE.inadequateSecurity]: 'permission_denied',
};

/** How a call ends: by the status of the other side, by what we do not take of it, or without either. */
export class CallOutcome {
  readonly #stream: Http2Stream;
  readonly #session: Session;
  #isAnswered = false;
  /** The stream ended with its connection. */
  #isLost = false;
  #status: { code: number; message: string } | undefined;
  #refusal: PodwrightError | undefined;
  readonly #ended = Promise.withResolvers<void>();

  /** Begins the call. `onData` is given the bytes of the answer, which it may keep no longer than it runs. */
  constructor(session: Session, request: { head: Buffer; body: Buffer }, onData: (bytes: Buffer) => void) {
    this.#session = session;
    this.#stream = session.begin(request, {
      onHeaders: (fields, isLast) => this.#hear(new Map(fields), isLast),
      onData,
      onClose: () => {
        this.#isLost = session.isDestroyed;
        this.#ended.resolve();
      },
    });
  }

  /** Resolves when the other side has said all, or the stream has been cut. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether it is known how the call ends, whatever becomes of its stream. */
  get isTold(): boolean {
    return this.#status !== undefined || this.#refusal !== undefined;
  }

  /** Once it has ended: whether the other side has surely done nothing for the call ("Transparent Retries" of gRPC's A6). */
  get isUnprocessed(): boolean {
    if (this.#isAnswered || this.isTold) return false;
    return this.#stream.closeCode === END_CODE.refusedStream || this.#session.hasPassedOver(this.#stream);
  }

  /** So many bytes of the answer are no longer kept: as many more may come. */
  take(bytes: number): void {
    this.#stream.take(bytes);
  }

  /**
   * Ends the stream here at once, also while the other side does not read; it is told when it does. A status that it has told stays
   * that of the call.
   */
  cut(): void {
    this.#stream.cut();
  }

  /** Takes no more of the answer, for this reason. */
  refuse(why: PodwrightError): void {
    this.#refusal ??= why;
    this.cut();
  }

  /** Once it has ended: what the other side says, unchanged, or `lost()` for a connection that has gone; none if all went well. */
  error(lost: () => PodwrightError): PodwrightError | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    if (this.#status?.code === 0) return undefined;
    if (this.#status !== undefined) return errorOfStatus(this.#status.code, this.#status.message);
    if (this.#isLost) return lost();
    const { closeCode = END_CODE.internalError } = this.#stream;
    if (closeCode === END_CODE.noError) return new PodwrightError('internal', 'the call ended without a status');
    return new PodwrightError(RESET_CODES[closeCode] ?? 'internal', `the call was reset, code ${closeCode}`);
  }

  #hear(fields: ReadonlyMap<string, string>, isLast: boolean): void {
    if (fields.get(':status')?.startsWith('1')) return; // the answer is still to come
    if (this.#isAnswered && !isLast) return this.#stream.cut(END_CODE.protocolError);
    const code = fields.get('grpc-status');
    if (code !== undefined) this.#status = { code: Number(code), message: decoded(fields.get('grpc-message') ?? '') };
    else if (!this.#isAnswered) this.#refuseForeign(fields);
    this.#isAnswered = true;
  }

  /** What comes after headers that are none of gRPC says nothing, and may have no end. */
  #refuseForeign(fields: ReadonlyMap<string, string>): void {
    const [status, type = 'none'] = [Number(fields.get(':status')), fields.get('content-type')];
    if (status !== 200)
      this.refuse(new PodwrightError(HTTP_CODES[status] ?? 'unknown', `HTTP status ${status}, not gRPC`));
    else if (!type.startsWith('application/grpc'))
      this.refuse(new PodwrightError('unknown', `an answer of content-type ${type}, not gRPC`));
  }
}

function errorOfStatus(code: number, message: string): PodwrightError {
  // containerd 2.2 has no handler for UpdatePodSandboxResources, and says so by words alone
  if (errorCodeOfStatus(code) === 'unknown' && /\bnot implemented$/.test(message))
    return new PodwrightError('unimplemented', message);
  return new PodwrightError(errorCodeOfStatus(code), message);
}

/** Percent-encoded UTF-8; what is not is taken as it is. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
