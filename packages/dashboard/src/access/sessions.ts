import { MAX_SESSION_REQUESTS, MAX_SESSION_SOCKETS, MAX_SESSIONS, SESSION_LIFE_MS } from '../limits.ts';
import { digestOf, newSecret } from './secret.ts';

/** Counts the requests of a session that are under way. */
export class Session {
  readonly #ended = new AbortController();
  /** Aborts when the session ends, which ends its streams. */
  readonly ended = this.#ended.signal;
  #requests = 0;
  #sockets = 0;

  /** Returns a function for the end of the request, or undefined if the session has too many requests. */
  begin(kind: 'request' | 'socket'): (() => void) | undefined {
    if (this.#requests >= MAX_SESSION_REQUESTS) return undefined;
    if (kind === 'socket' && this.#sockets >= MAX_SESSION_SOCKETS) return undefined;
    const socket = kind === 'socket' ? 1 : 0;
    let isOpen = true;
    this.#requests++;
    this.#sockets += socket;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#requests--;
      this.#sockets -= socket;
    };
  }

  end(): void {
    this.#ended.abort();
  }
}

/** Both are needed for each request. Browsers send the cookie to all ports of a host, but no other origin can read the key. */
export type Credentials = { cookie: string; key: string };

/** The sessions of a server. */
export class Sessions {
  /** By the digest of both credentials; the oldest one first. */
  readonly #sessions = new Map<string, { session: Session; expiry: number }>();

  /** Begins a session. `now` is in milliseconds. */
  begin(now: number): Credentials {
    const credentials = { cookie: newSecret(), key: newSecret() };
    this.#sessions.set(digestOfBoth(credentials), { session: new Session(), expiry: now + SESSION_LIFE_MS });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#end(oldest);
    return credentials;
  }

  find(credentials: Credentials, now: number): Session | undefined {
    const digest = digestOfBoth(credentials);
    const found = this.#sessions.get(digest);
    if (found === undefined || now < found.expiry) return found?.session;
    this.#end(digest);
    return undefined;
  }

  end(credentials: Credentials): void {
    this.#end(digestOfBoth(credentials));
  }

  endAll(): void {
    for (const digest of [...this.#sessions.keys()]) this.#end(digest);
  }

  #end(digest: string): void {
    this.#sessions.get(digest)?.session.end();
    this.#sessions.delete(digest);
  }
}

const digestOfBoth = ({ cookie, key }: Credentials) => digestOf(`${cookie} ${key}`);
