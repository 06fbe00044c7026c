import { PodwrightError } from '@podwright/base';
import {
  decodeAddress,
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
 * Links, addresses and routes of the host's network namespace. What is quick goes by one socket, what waits for the kernel's
 * grace periods or has many answers by another: each answers one batch after the other.
 */
export class HostLinks {
  readonly #quick: NetlinkSocket;
  readonly #slow: NetlinkSocket;

  constructor(sockets: NetlinkSockets) {
    this.#quick = sockets.open('route');
    this.#slow = sockets.open('route');
  }

  /** Sends requests that are quick. */
  request(requests: readonly NetlinkRequest[]): Promise<NetlinkMessage[][]> {
    return this.#quick.request(requests);
  }

  /** Looks for links; undefined for each that is not there. */
  find<T extends string[]>(...names: T): Promise<{ [K in keyof T]: Link | undefined }> {
    return findOn(this.#quick, names);
  }

  /** As `find`, behind what is being removed. */
  findLater<T extends string[]>(...names: T): Promise<{ [K in keyof T]: Link | undefined }> {
    return findOn(this.#slow, names);
  }

  /** Removes links with all that hangs on them; those that are not there are a success. */
  async remove(names: string[]): Promise<void> {
    if (names.length > 0) await again(() => this.#slow.request(names.map(deleteLink)));
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

  close(): void {
    this.#quick.close();
    this.#slow.close();
  }

  /** Once more if the list changed while the kernel gave it, so that some may be missing. */
  async #list(request: NetlinkRequest): Promise<NetlinkMessage[]> {
    for (let attempt = 1; ; attempt++) {
      const [answers] = await again(() => this.#slow.request([request]));
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
  const answers = await again(() => socket.request(requests));
  return answers.map(([found]) => found && decodeLink(found)) as { [K in keyof T]: Link | undefined };
}

/** Answers were lost, or the kernel had no memory for them (ENOBUFS): for requests that may be made again. */
export async function again<T>(work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!hasErrno(error, 'ENOBUFS') || attempt === NETLINK_ATTEMPTS) throw error;
    }
  }
}

/** `not_found` for what was looked for just now and has gone. */
export function vanished(what: string): PodwrightError {
  return new PodwrightError('not_found', `${what} has vanished`);
}
