import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { UserInfo } from '@podwright/kube-kinds';

/** The parts of a TLS connection needed for authentication. */
export type TlsPeer = Pick<TLSSocket, 'authorized' | 'getPeerX509Certificate'>;

export type AuthenticationRequest = {
  /** The server-side socket. Its TLS layer has verified the client certificate against the cluster's CA. */
  tlsSocket?: TlsPeer;
  /**
   * The request's headers. Once a credential is accepted, the `Authorization` header and an accepted WebSocket token are removed, so that
   * proxies do not forward them.
   */
  headers: IncomingHttpHeaders;
};

/**
 * Determines a request's user. Resolves with `undefined` if the request has no credentials, and rejects with `unauthorized()` if they are
 * invalid. There are no anonymous users.
 */
export interface Authenticator {
  authenticate(request: AuthenticationRequest): Promise<UserInfo | undefined>;
}

/** A token's user, and the requested audiences that the token is valid for. */
export type TokenUser = { user: UserInfo; audiences: string[] };

/**
 * Authenticates one type of token. Returns `undefined` if the text is not such a token, and throws `RefusedCredential` if the token is
 * invalid.
 */
export interface TokenType {
  authenticate(token: string, audiences: readonly string[]): TokenUser | undefined;
}

/** The reason why a certificate or token was rejected. The message never contains any part of a token. */
export class RefusedCredential extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RefusedCredential';
  }
}

/** Key of the extra field that identifies the credential. Its value is not secret. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';
