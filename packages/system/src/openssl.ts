import { inspect } from 'node:util';
import { type ChainLimits, hasSlowKeys, type LimitChains, PodwrightError } from '@podwright/base';
import koffi from 'koffi';

type Address = bigint;

/** OpenSSL functions exported by the node binary. */
type OpenSsl = {
  control(context: Address, command: number, value: number, pointer: null): number | bigint;
  setVerifyDepth(context: Address, depth: number): void;
  getVerifyDepth(context: Address): number;
  /** Makes all connections of a TLS context call `refuseSlowKeys` for each message. */
  setMessageCallback(context: Address): void;
};

// Constants from openssl/ssl.h.
const SSL_CTRL_GET_MAX_CERT_LIST = 50;
const SSL_CTRL_SET_MAX_CERT_LIST = 51;
const DEFAULT_MAX_CERT_LIST = 102_400;

type MessageArguments = [isSent: number, version: number, contentType: number, message: unknown, bytes: number];

// Constants from openssl/ssl3.h and RFC 8446, section 4.
const SSL3_RT_HANDSHAKE = 22;
const CERTIFICATE_MESSAGE = 11;
const MESSAGE_HEADER_BYTES = 4;

/**
 * Returns a function that limits the length of peers' certificate chains on all connections of a TLS context. If OpenSSL is not accessible
 * in this Node.js, the function is a no-op and calls `onUnavailable` once. Must be called on the main thread.
 */
export function chainLimiter(onUnavailable: (error: unknown) => void): LimitChains {
  let isUnavailable = false;
  let openssl: OpenSsl | undefined;
  return ({ context }, limits) => {
    if (isUnavailable) return;
    try {
      openssl ??= loadOpenSsl();
      limitChains(openssl, addressOf(context), limits);
    } catch (error) {
      isUnavailable = true;
      onUnavailable(error);
    }
  };
}

function loadOpenSsl(): OpenSsl {
  const library = koffi.load(null);
  return {
    control: library.func('long SSL_CTX_ctrl(uintptr_t context, int command, long value, void *pointer)'),
    setVerifyDepth: library.func('void SSL_CTX_set_verify_depth(uintptr_t context, int depth)'),
    getVerifyDepth: library.func('int SSL_CTX_get_verify_depth(uintptr_t context)'),
    setMessageCallback: messageCallbackSetter(library),
  };
}

function messageCallbackSetter(library: ReturnType<typeof koffi.load>): OpenSsl['setMessageCallback'] {
  const parameters = 'int isSent, int version, int contentType, void *message, size_t bytes, void *ssl, void *argument';
  const type = koffi.pointer(koffi.proto(`void tlsMessageCallback(${parameters})`));
  const callback = koffi.register(refuseSlowKeys, type); // never unregistered: contexts live as long as the process
  const set = library.func('void SSL_CTX_set_msg_callback(uintptr_t context, void *callback)');
  return (context) => set(context, callback);
}

/**
 * Invalidates Certificate messages that contain a key on an explicit curve, because decoding such a key can take seconds. OpenSSL calls
 * this before decoding each handshake message from the same buffer; it then ends the handshake with a decode error.
 */
function refuseSlowKeys(...[isSent, , contentType, message, bytes]: MessageArguments): void {
  if (isSent !== 0 || contentType !== SSL3_RT_HANDSHAKE || bytes <= MESSAGE_HEADER_BYTES) return;
  const view = new Uint8Array(koffi.view(message, Number(bytes)));
  if (view[0] !== CERTIFICATE_MESSAGE || !hasSlowKeys(view)) return;
  view[MESSAGE_HEADER_BYTES] = 0xff; // the length of the request context (TLS 1.3) or of the certificates (TLS 1.2)
}

function limitChains(openssl: OpenSsl, context: Address, { maxBytes, maxIntermediates }: ChainLimits): void {
  const previous = Number(openssl.control(context, SSL_CTRL_GET_MAX_CERT_LIST, 0, null));
  if (previous !== DEFAULT_MAX_CERT_LIST && previous !== maxBytes) throw unavailable(`its maximum is ${previous}`);
  openssl.control(context, SSL_CTRL_SET_MAX_CERT_LIST, maxBytes, null);
  openssl.setMessageCallback(context);
  openssl.setVerifyDepth(context, maxIntermediates);
  const depth = openssl.getVerifyDepth(context);
  if (depth !== maxIntermediates) throw unavailable(`its depth is ${depth}`);
}

/** Returns the address of a context's SSL_CTX, which Node.js reveals only in the output of `inspect`. */
function addressOf(context: object): Address {
  const text = inspect((context as { _external?: unknown })._external);
  const [, address] = /^\[External: (?:0x)?([0-9a-f]{5,16})\]$/.exec(text) ?? [];
  if (address === undefined) throw unavailable('it has no address');
  return BigInt(`0x${address}`);
}

function unavailable(reason: string): PodwrightError {
  return new PodwrightError('failed_precondition', `limit the certificate chains of a TLS context: ${reason}`);
}
