import { type ClientHttp2Stream, constants, type Http2Session, type IncomingHttpHeaders } from 'node:http2';
import { type ErrorCode, errorCodeOfStatus, PodwrightError } from '@podwright/base';

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

/** How a call ends: by the status of the other side, or without one. */
export class CallOutcome {
  readonly #stream: ClientHttp2Stream;
  readonly #session: Http2Session | undefined;
  #status: { code: number; message: string } | undefined;
  #httpStatus = 200;
  readonly #ended = Promise.withResolvers<void>();

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    this.#session = stream.session; // which a stream that has closed does not know
    stream.once('response', (headers) => {
      this.#httpStatus = headers[':status'] ?? 0;
      this.#note(headers);
    });
    stream.once('trailers', (headers) => this.#note(headers));
    stream.on('error', () => undefined); // the stream closes
    stream.once('close', () => this.#ended.resolve());
  }

  /** Resolves when the other side has told its status, or the stream has been cut. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get isTold(): boolean {
    return this.#status !== undefined;
  }

  /** Once it has ended: what the other side says, unchanged, or `lost()` for a connection that has gone; none if all went well. */
  error(lost: () => PodwrightError): PodwrightError | undefined {
    if (this.#status?.code === 0) return undefined;
    if (this.#status !== undefined) return errorOfStatus(this.#status.code, this.#status.message);
    if (this.#httpStatus !== 200)
      return new PodwrightError(HTTP_CODES[this.#httpStatus] ?? 'unknown', `HTTP status ${this.#httpStatus}, not gRPC`);
    if (this.#session?.destroyed !== false) return lost();
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
