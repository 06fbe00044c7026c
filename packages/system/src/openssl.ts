import { inspect } from 'node:util';
import { type ChainLimits, type LimitChains, PodwrightError } from '@podwright/base';
import koffi from 'koffi';

type Address = bigint;

/** Functions of OpenSSL that the node binary exports. */
type OpenSsl = {
  control(context: Address, command: number, value: number, pointer: null): number | bigint;
  setVerifyDepth(context: Address, depth: number): void;
  getVerifyDepth(context: Address): number;
};

// From openssl/ssl.h.
const SSL_CTRL_GET_MAX_CERT_LIST = 50;
const SSL_CTRL_SET_MAX_CERT_LIST = 51;
const DEFAULT_MAX_CERT_LIST = 102_400;

/**
 * Returns a function that limits the certificate chains of the connections of a TLS context. If this Node.js does not give access to OpenSSL,
 * the function calls `onUnavailable` the first time, and changes nothing. Main thread only.
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
  };
}

function limitChains(openssl: OpenSsl, context: Address, { maxBytes, maxIntermediates }: ChainLimits): void {
  const previous = Number(openssl.control(context, SSL_CTRL_GET_MAX_CERT_LIST, 0, null));
  if (previous !== DEFAULT_MAX_CERT_LIST && previous !== maxBytes) throw unavailable(`its maximum is ${previous}`);
  openssl.control(context, SSL_CTRL_SET_MAX_CERT_LIST, maxBytes, null);
  openssl.setVerifyDepth(context, maxIntermediates);
  const depth = openssl.getVerifyDepth(context);
  if (depth !== maxIntermediates) throw unavailable(`its depth is ${depth}`);
}

/** Returns the address of a context's SSL_CTX. Only `inspect` shows it. */
function addressOf(context: object): Address {
  const text = inspect((context as { _external?: unknown })._external);
  const [, address] = /^\[External: (?:0x)?([0-9a-f]{5,16})\]$/.exec(text) ?? [];
  if (address === undefined) throw unavailable('it has no address');
  return BigInt(`0x${address}`);
}

function unavailable(reason: string): PodwrightError {
  return new PodwrightError('failed_precondition', `limit the certificate chains of a TLS context: ${reason}`);
}
