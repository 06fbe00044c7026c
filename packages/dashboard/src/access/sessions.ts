import { MAX_SESSION_REQUESTS, MAX_SESSION_SOCKETS, MAX_SESSIONS, SESSION_LIFE_MS } from '../limits.ts';
import { digestOf, newSecret } from './secret.ts';

/** A browser session, with the number of its concurrent requests and WebSockets. */
export class Session {
  readonly #ended = new AbortController();
  readonly #expiring: NodeJS.Timeout;
  /** Aborts when the session ends or expires, which also ends its streams. */
  readonly ended = this.#ended.signal;
  #requests = 0;
  #sockets = 0;

  constructor() {
    this.#expiring = setTimeout(() => this.end(), SESSION_LIFE_MS).unref();
  }

  /** Counts a request. Returns a function to call when the request ends, or undefined if the session has too many requests. */
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
    clearTimeout(this.#expiring);
    this.#ended.abort();
  }
}

/**
 * The two secrets of a session. Requests need both: browsers send the cookie to all ports of a host, but other origins cannot read the key.
 */
export type Credentials = { cookie: string; key: string };

/** All sessions of the dashboard. */
export class Sessions {
  /**
   * Sessions by the digest of their credentials, oldest first. `expiry` is in Unix milliseconds. It is checked in addition to the timer,
   * which fires late if the machine was suspended.
   */
  readonly #sessions = new Map<string, { session: Session; expiry: number }>();

  /** Starts a session, ending the oldest one if there are too many. `now`: in Unix milliseconds. */
  begin(now: number): Credentials {
    const credentials = { cookie: newSecret(), key: newSecret() };
    this.#sessions.set(digestOfBoth(credentials), { session: new Session(), expiry: now + SESSION_LIFE_MS });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#end(oldest);
    return credentials;
  }

  /** Returns the session with these credentials, or undefined if it does not exist or has expired. */
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
