/** Authenticates requests by client certificate, by a token that the test has issued, or by a service account's token. */
import type { TLSSocket } from 'node:tls';
import type { Registry } from './registry.ts';
import { coreKind } from './resource-kinds.ts';
import { unauthorized } from './status-error.ts';
import { API_AUDIENCE, type TokenClaims, type TokenIssuer } from './tokens.ts';
import { ANONYMOUS, AUTHENTICATED, type UserInfo } from './user-info.ts';

const PODS = coreKind('pods');
const SERVICE_ACCOUNTS = coreKind('serviceaccounts');

export class Authenticator {
  readonly #registry: Registry;
  readonly #issuer: TokenIssuer;
  readonly #tokens: Map<string, UserInfo>;

  /** `known`: an earlier authenticator, whose tokens remain valid. */
  constructor({ registry, issuer, known }: { registry: Registry; issuer: TokenIssuer; known?: Authenticator }) {
    this.#registry = registry;
    this.#issuer = issuer;
    this.#tokens = new Map(known === undefined ? [] : known.#tokens);
  }

  /** Registers a token of a user. */
  accept(token: string, user: UserInfo): void {
    this.#tokens.set(token, { ...user, groups: withAuthenticated(user.groups) });
  }

  revoke(token: string): void {
    this.#tokens.delete(token);
  }

  /** The user of a request; throws 401 for an invalid token. */
  userOf(socket: TLSSocket | undefined, authorization: string | undefined): UserInfo {
    const certified = socket === undefined ? undefined : this.#certified(socket);
    if (certified !== undefined) return certified;
    const token = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return ANONYMOUS;
    const user = this.userOfToken(token, [API_AUDIENCE])?.user;
    if (user === undefined) throw unauthorized();
    return user;
  }

  /** The user of a token, and those of the audiences for which it is valid. */
  userOfToken(token: string, audiences: string[]): { user: UserInfo; audiences: string[] } | undefined {
    const known = this.#tokens.get(token);
    if (known !== undefined) return { user: known, audiences };
    const claims = this.#issuer.read(token);
    const shared = audiences.filter((audience) => claims?.aud.includes(audience));
    if (claims === undefined || shared.length === 0 || !this.#isBoundAlive(claims)) return undefined;
    return { user: userOfClaims(claims), audiences: shared };
  }

  #isBoundAlive({ 'kubernetes.io': bound }: TokenClaims): boolean {
    const lives = (kind: typeof PODS, { name, uid }: { name: string; uid: string }) =>
      this.#registry.find({ kind, namespace: bound.namespace, name })?.metadata.uid === uid;
    return lives(SERVICE_ACCOUNTS, bound.serviceaccount) && (bound.pod === undefined || lives(PODS, bound.pod));
  }

  #certified(socket: TLSSocket): UserInfo | undefined {
    if (!socket.authorized) return undefined;
    const subject = socket.getPeerCertificate()?.subject as { CN?: string; O?: string | string[] } | undefined;
    if (subject?.CN === undefined) return undefined;
    const groups = subject.O === undefined ? [] : [subject.O].flat();
    return { username: subject.CN, groups: withAuthenticated(groups) };
  }
}

const withAuthenticated = (groups: string[]) => [...new Set([...groups, AUTHENTICATED])];

function userOfClaims({ 'kubernetes.io': bound, jti, sub }: TokenClaims): UserInfo {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${bound.namespace}`, AUTHENTICATED];
  const extra: Record<string, string[]> = { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`] };
  if (bound.pod !== undefined) {
    extra['authentication.kubernetes.io/pod-name'] = [bound.pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [bound.pod.uid];
  }
  if (bound.node !== undefined) extra['authentication.kubernetes.io/node-name'] = [bound.node.name];
  return { username: sub, uid: bound.serviceaccount.uid, groups, extra };
}
