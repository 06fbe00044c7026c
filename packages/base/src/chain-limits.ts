import type { SecureContext, SecureContextOptions, Server } from 'node:tls';

/**
 * Limits on the certificates that a peer sends in a TLS handshake. OpenSSL verifies the whole chain synchronously on the main thread, even
 * if the result is ignored, and a malicious peer can make each signature take several milliseconds.
 */
export type ChainLimits = {
  /** Maximum total size of the certificates. A larger chain fails the handshake. */
  maxBytes: number;
  /** Maximum number of intermediate certificates. A longer chain is untrusted, and only its beginning is verified. */
  maxIntermediates: number;
};

/** Applies limits to the connections of a TLS context. */
export type LimitChains = (context: SecureContext, limits: ChainLimits) => void;

/**
 * Limits on the certificate chains of each type of peer. Public servers send at most three intermediate certificates, and certificates that
 * are not verified need none.
 */
const LIMITS = {
  unverifiedServer: { maxBytes: 16 << 10, maxIntermediates: 0 },
  server: { maxBytes: 16 << 10, maxIntermediates: 5 },
  client: { maxBytes: 8 << 10, maxIntermediates: 2 },
} satisfies Record<string, ChainLimits>;

/** OID prefix of a curve's field type (ANSI X9.62), which appears only in explicit curve parameters. */
const FIELD_TYPE = Buffer.from('2a8648ce3d01', 'hex');
/** OID that marks every elliptic-curve public key (RFC 5480). */
const EC_PUBLIC_KEY = Buffer.from('2a8648ce3d0201', 'hex');
const MAX_EC_KEYS = 10;

const TOO_LARGE = `its certificates are larger than ${LIMITS.server.maxBytes >> 10} KiB`;
const INVALID = `its certificates are malformed, or have a key on an elliptic curve that has no name, or more than ${MAX_EC_KEYS} keys on elliptic curves`;

let limitChains: LimitChains | undefined;

/** Sets how this process limits certificate chains. Node.js has no such limits; without this call, chains are only limited to 100 KiB. */
export function setChainLimits(limit: LimitChains | undefined): void {
  limitChains = limit;
}

/** Creates a TLS context with certificate chain limits, for connections to servers chosen by a pod or a user. */
export function clientContext(peer: 'server' | 'unverifiedServer', options: SecureContextOptions): SecureContext {
  const context = process.getBuiltinModule('node:tls').createSecureContext(options); // loaded on first use, because loading takes 12 ms
  limitChains?.(context, LIMITS[peer]);
  return context;
}

/** Limits the certificate chains of a server's clients. Must be called again after each `setSecureContext`. */
export function limitClientChains(server: Pick<Server, 'setSecureContext'>): void {
  // read an internal property, because node:tls has no public API for a server's secure context
  const { _sharedCreds: context } = server as unknown as { _sharedCreds?: SecureContext };
  limitChains?.(context ?? ({} as SecureContext), LIMITS.client); // without a context, the limiter reports that it has no effect
}

/**
 * Whether OpenSSL would be slow to decode the keys of DER-encoded certificates. Keys with explicit curve parameters take up to 0.2 s each
 * and are not allowed in certificates (RFC 5480, section 2.1.1). Compressed points take up to 1 ms each, so the number of elliptic-curve
 * keys is limited as well.
 */
export function hasSlowKeys(der: Uint8Array): boolean {
  const bytes = Buffer.from(der.buffer, der.byteOffset, der.byteLength);
  if (bytes.includes(FIELD_TYPE)) return true;
  let at = -1;
  for (let keys = 0; keys <= MAX_EC_KEYS; keys++) {
    at = bytes.indexOf(EC_PUBLIC_KEY, at + 1);
    if (at === -1) return false;
  }
  return true;
}

/**
 * Describes a handshake that failed because the server's certificates were rejected; `undefined` for other errors. Matches the error's
 * message, because its code depends on timing.
 */
export function chainProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.message.includes('excessive message size')) return TOO_LARGE;
  return error.message.includes('tls_process_server_certificate:length mismatch') ? INVALID : undefined;
}
