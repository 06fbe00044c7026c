import { PodwrightError } from '@podwright/base';
import {
  type DefaultRoute,
  decodeAddress,
  decodeDefaultRoute,
  decodeLink,
  decodeRoute,
  deleteLink,
  getLink,
  hasErrno,
  type Link,
  type LinkAddress,
  listAddresses,
  listLinks,
  listRoutes,
  type NetlinkMessage,
  type NetlinkRequest,
  type NetlinkSocket,
  type NetlinkSockets,
  type Route,
} from '@podwright/system';
import { NETLINK_ATTEMPTS } from '../../time-limits.ts';

/** NLM_F_DUMP_INTR (linux/netlink.h). */
const DUMP_INTERRUPTED = 0x10;

/**
 * Links, addresses and routes of the host's network namespace. Quick requests use one socket; requests that wait for RCU grace periods or
 * have many replies use another, because a socket processes only one batch at a time.
 */
export class HostLinks {
  readonly #quick: NetlinkSocket;
  readonly #slow: NetlinkSocket;

  constructor(sockets: NetlinkSockets) {
    this.#quick = sockets.open('route');
    this.#slow = sockets.open('route');
  }

  /** Sends netlink requests on the socket for quick requests. A slow request on it would block the requests behind it. */
  request(requests: readonly NetlinkRequest[]): Promise<NetlinkMessage[][]> {
    return this.#quick.request(requests);
  }

  /** Looks up links by name; `undefined` for each link that does not exist. */
  find<T extends string[]>(...names: T): Promise<{ [K in keyof T]: Link | undefined }> {
    return findOn(this.#quick, names);
  }

  /** Looks up links by name, like `find`, but in the queue of slow requests, after removals in progress. */
  findLater<T extends string[]>(...names: T): Promise<{ [K in keyof T]: Link | undefined }> {
    return findOn(this.#slow, names);
  }

  /** Removes links along with their addresses and qdiscs. Links that do not exist are not an error. */
  async remove(names: string[]): Promise<void> {
    if (names.length > 0) await retryLostAnswers(() => this.#slow.request(names.map(deleteLink)));
  }

  async links(): Promise<Link[]> {
    return (await this.#list(listLinks())).map(decodeLink);
  }

  async addresses(): Promise<LinkAddress[]> {
    return (await this.#list(listAddresses())).flatMap((message) => decodeAddress(message) ?? []);
  }

  async routes(): Promise<Route[]> {
    return (await this.#list(listRoutes())).flatMap((message) => decodeRoute(message) ?? []);
  }

  async defaultRoutes(): Promise<DefaultRoute[]> {
    return (await this.#list(listRoutes())).flatMap((message) => decodeDefaultRoute(message) ?? []);
  }

  close(): void {
    this.#quick.close();
    this.#slow.close();
  }

  /** Lists kernel objects. Retries if any changed during the dump, because entries might be missing. */
  async #list(request: NetlinkRequest): Promise<NetlinkMessage[]> {
    for (let attempt = 1; ; attempt++) {
      const [answers] = await retryLostAnswers(() => this.#slow.request([request]));
      const isWhole = answers!.every(({ flags }) => (flags & DUMP_INTERRUPTED) === 0);
      if (isWhole || attempt === NETLINK_ATTEMPTS) return answers!;
    }
  }
}

async function findOn<T extends string[]>(
  socket: NetlinkSocket,
  names: T,
): Promise<{ [K in keyof T]: Link | undefined }> {
  const requests = names.map((name) => ({ ...getLink(name), ignore: ['ENODEV'] }));
  const answers = await retryLostAnswers(() => socket.request(requests));
  return answers.map(([found]) => found && decodeLink(found)) as { [K in keyof T]: Link | undefined };
}

/** Retries if netlink replies were lost or the kernel had no memory for them (ENOBUFS). Only for requests that are safe to repeat. */
export async function retryLostAnswers<T>(work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!hasErrno(error, 'ENOBUFS') || attempt === NETLINK_ATTEMPTS) throw error;
    }
  }
}

/** Builds the `not_found` error for a kernel object that was removed while in use. */
export function vanished(what: string): PodwrightError {
  return new PodwrightError('not_found', `${what} has vanished`);
}
