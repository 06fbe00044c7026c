import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { UserInfo } from '@podwright/kube-kinds';

/** The properties of a TLS connection that authentication reads. */
export type TlsPeer = Pick<TLSSocket, 'authorized' | 'getPeerX509Certificate'>;

export type AuthenticationRequest = {
  /** The server-side socket, whose TLS layer has verified the client certificate against the cluster's CA. */
  tlsSocket?: TlsPeer;
  /**
   * The request's headers. When a credential is accepted, the `Authorization` header and an accepted WebSocket token are removed from them,
   * so that no proxy forwards them.
   */
  headers: IncomingHttpHeaders;
};

/**
 * Determines the user of a request. Resolves with `undefined` for a request without credentials, and rejects with `unauthorized()` if they
 * are invalid. There are no anonymous users.
 */
export interface Authenticator {
  authenticate(request: AuthenticationRequest): Promise<UserInfo | undefined>;
}

/** A token's user, and the requested audiences for which the token is valid. */
export type TokenUser = { user: UserInfo; audiences: string[] };

/**
 * Authenticates tokens of one type. Returns `undefined` if the text is not a token of this type, and throws `RefusedCredential` if the
 * token is invalid.
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

/** Key of the extra field that identifies the credential. The identifier is not secret. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';
