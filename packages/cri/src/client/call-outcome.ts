import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { type ErrorCode, errorCodeOfStatus, PodwrightError } from '@podwright/base';
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
  [constants.NGHTTP2_REFUSED_STREAM]: 'unavailable',
  [constants.NGHTTP2_CANCEL]: 'cancelled',
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: 'resource_exhausted',
  [constants.NGHTTP2_INADEQUATE_SECURITY]: 'permission_denied',
};

/** How a call ends: by the status of the other side, by what we do not take of it, or without either. */
export class CallOutcome {
  readonly #stream: ClientHttp2Stream;
  readonly #session: Session;
  #isAnswered = false;
  #status: { code: number; message: string } | undefined;
  #refusal: PodwrightError | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(stream: ClientHttp2Stream, session: Session) {
    this.#stream = stream;
    this.#session = session;
    stream.once('response', (headers) => {
      this.#isAnswered = true;
      this.#note(headers);
      if (this.#status === undefined) this.#refuseForeign(headers);
    });
    stream.once('trailers', (headers) => this.#note(headers));
    stream.on('error', () => undefined); // the stream closes
    stream.once('close', () => this.#ended.resolve());
  }

  /** Resolves when the other side has told its status, or the stream has been cut. */
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
    return this.#stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || this.#session.hasPassedOver(this.#stream);
  }

  /**
   * Ends the stream here at once, also while the other side does not read; it is told when it does. A status that it has told stays
   * that of the call.
   */
  cut(code: number = constants.NGHTTP2_CANCEL): void {
    this.#stream.close(code);
    this.#stream.destroy();
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
    if (this.#session.isDestroyed) return lost();
    const { rstCode } = this.#stream;
    if (rstCode === constants.NGHTTP2_NO_ERROR)
      return new PodwrightError('internal', 'the call ended without a status');
    return new PodwrightError(RESET_CODES[rstCode ?? 0] ?? 'internal', `the call was reset, code ${rstCode}`);
  }

  #note(headers: IncomingHttpHeaders): void {
    const code = headers['grpc-status'];
    if (code === undefined) return;
    this.#status = { code: Number(code), message: decoded(String(headers['grpc-message'] ?? '')) };
    this.#ended.resolve();
  }

  /** What comes after headers that are none of gRPC says nothing, and may have no end. */
  #refuseForeign({
    ':status': status = 0,
    'content-type': type = 'none',
  }: IncomingHttpHeaders & { ':status'?: number }) {
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
