import type { SecureContext, SecureContextOptions, Server } from 'node:tls';

/**
 * Limits on the certificates that a peer sends in a TLS handshake. OpenSSL verifies their signatures in one step on the main thread, even if
 * the result is ignored, and a peer can make each signature take several milliseconds.
 */
export type ChainLimits = {
  /** Maximum size of all certificates. A handshake with larger ones fails. */
  maxBytes: number;
  /** Maximum number of intermediate certificates. A longer chain is not trusted, and only its beginning is verified. */
  maxIntermediates: number;
};

/** Applies limits to the connections that use a context. */
export type LimitChains = (context: SecureContext, limits: ChainLimits) => void;

/** Limits by the kind of peer. Public servers send at most three intermediate certificates. */
const LIMITS = {
  unverifiedServer: { maxBytes: 16 << 10, maxIntermediates: 0 },
  server: { maxBytes: 16 << 10, maxIntermediates: 5 },
  client: { maxBytes: 8 << 10, maxIntermediates: 2 },
} satisfies Record<string, ChainLimits>;

/** The arc of the object identifiers of a curve's field (ANSI X9.62), which only explicit curve parameters contain. */
const FIELD_TYPE = Buffer.from('2a8648ce3d01', 'hex');
/** The object identifier of every key on an elliptic curve (RFC 5480). */
const EC_PUBLIC_KEY = Buffer.from('2a8648ce3d0201', 'hex');
const MAX_EC_KEYS = 10;

const TOO_LARGE = `its certificates are larger than ${LIMITS.server.maxBytes >> 10} KiB`;
const INVALID = `its certificates are malformed, or have a key on an elliptic curve that has no name, or more than ${MAX_EC_KEYS} keys on elliptic curves`;

let limitChains: LimitChains | undefined;

/** Sets how this process limits certificate chains. Node.js offers no such limits, so without this call chains are limited to 100 KiB only. */
export function setChainLimits(limit: LimitChains | undefined): void {
  limitChains = limit;
}

/** Creates a TLS context for connections to servers that a pod or a user has chosen, with limits on their certificate chains. */
export function clientContext(peer: 'server' | 'unverifiedServer', options: SecureContextOptions): SecureContext {
  const context = process.getBuiltinModule('node:tls').createSecureContext(options); // loaded on first use, because loading takes 12 ms
  limitChains?.(context, LIMITS[peer]);
  return context;
}

/** Limits the certificate chains of a server's clients. Must be called again after each `setSecureContext`. */
export function limitClientChains(server: Pick<Server, 'setSecureContext'>): void {
  // no public API of node:tls exposes the context
  const { _sharedCreds: context } = server as unknown as { _sharedCreds?: SecureContext };
  limitChains?.(context ?? ({} as SecureContext), LIMITS.client); // without a context, the limiter reports that it has no effect
}

/**
 * Whether OpenSSL would decode the keys of DER-encoded certificates slowly: keys on curves that are given by parameters rather than by
 * name take up to 0.2 s each, and certificates must not contain them (RFC 5480, section 2.1.1); compressed points take up to 1 ms each.
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

/** Returns a description of a failed handshake if the server's certificates were refused. The error's code depends on timing. */
export function chainProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.message.includes('excessive message size')) return TOO_LARGE;
  return error.message.includes('tls_process_server_certificate:length mismatch') ? INVALID : undefined;
}
