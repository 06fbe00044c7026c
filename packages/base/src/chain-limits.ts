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

const TOO_LARGE = `its certificates are larger than ${LIMITS.server.maxBytes >> 10} KiB`;

let limitChains: LimitChains | undefined;

/** Sets how this process limits certificate chains. Node.js offers no such limits, so without this call chains are limited to 100 KiB only. */
export function setChainLimits(limit: LimitChains | undefined): void {
  limitChains = limit;
}

/** Creates a TLS context for connections to servers that a pod or a user has chosen, with limits on their certificate chains. */
export function clientContext(peer: 'server' | 'unverifiedServer', options: SecureContextOptions): SecureContext {
  const context = process.getBuiltinModule('node:tls').createSecureContext(options); // loaded on first use: it takes 12 ms
  limitChains?.(context, LIMITS[peer]);
  return context;
}

/** Limits the certificate chains of a server's clients. Must be called again after each `setSecureContext`. */
export function limitClientChains(server: Pick<Server, 'setSecureContext'>): void {
  // no public API of node:tls exposes the context
  const { _sharedCreds: context } = server as unknown as { _sharedCreds?: SecureContext };
  limitChains?.(context ?? ({} as SecureContext), LIMITS.client); // without a context, the limiter reports that it has no effect
}

/** Returns a description of a failed handshake if the server's certificates were too large. The error's code depends on timing. */
export function chainProblem(error: unknown): string | undefined {
  return error instanceof Error && error.message.includes('excessive message size') ? TOO_LARGE : undefined;
}
