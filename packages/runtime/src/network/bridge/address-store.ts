import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isErrno, makePrivateDirectory, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { type AddressRange, addressAt, addressNumber } from './address-range.ts';
import { POD_LINK } from './link-names.ts';

/**
 * Who has which address: a file an address, named after it, whose first line is the id of the sandbox. They are those of the
 * CNI plugin `host-local`, which earlier versions called, so that neither gives an address twice. The directory is in memory,
 * and of one runtime alone: files are read and written synchronously.
 */
export class AddressStore {
  readonly #directory: string;

  constructor(addressDirectory: string, network: string) {
    this.#directory = join(addressDirectory, network);
  }

  /** The addresses of each sandbox that has any. */
  held(): Map<string, string[]> {
    const held = new Map<string, string[]>();
    for (const address of this.#addresses()) {
      const id = this.#holder(address);
      if (id !== '') held.set(id, [...(held.get(id) ?? []), address]);
    }
    return held;
  }

  /**
   * Gives a sandbox an address of each range, the next after the one that was given last. The second one has the place in its
   * range that the first has in its own, if that is free: the pair then always comes with the same hardware address.
   * Undefined, with nothing given, if a range has none left; nothing is given either if this throws.
   */
  reserve(sandboxId: string, ranges: AddressRange[]): string[] | undefined {
    makePrivateDirectory(this.#directory);
    let given: string[] | undefined;
    try {
      given = this.#reserveEach(sandboxId, ranges);
      return given;
    } finally {
      if (given === undefined) this.release(sandboxId, this.held().get(sandboxId) ?? []);
    }
  }

  /** Gives a sandbox's addresses back; those that another one has by now are left alone. */
  release(sandboxId: string, addresses: readonly string[]): void {
    for (const address of addresses)
      if (this.#holder(address) === sandboxId) rmSync(join(this.#directory, address), { force: true });
  }

  /** Removes what a process left that was killed between making a file and writing into it. */
  removeUnfinished(): void {
    this.release('', this.#addresses());
  }

  #reserveEach(sandboxId: string, ranges: AddressRange[]): string[] | undefined {
    const given: string[] = [];
    for (const [index, range] of ranges.entries()) {
      const wanted = index === 0 ? undefined : samePlace(ranges[0]!, given[0]!, range);
      const address = this.#reserveOne(sandboxId, { range, last: this.#lastPath(index), wanted });
      if (address === undefined) return undefined;
      given.push(address);
    }
    return given;
  }

  #reserveOne(
    sandboxId: string,
    { range, last, wanted }: { range: AddressRange; last: string; wanted: bigint | undefined },
  ): string | undefined {
    let taken: Set<string> | undefined;
    for (const number of candidates(range, wanted ?? this.#lastGiven(range, last))) {
      const address = addressAt(range.family, number);
      if (taken?.has(address)) continue;
      if (this.#create(address, sandboxId)) {
        writeFileSync(last, address, { mode: PRIVATE_FILE });
        return address;
      }
      taken ??= new Set(this.#addresses());
    }
    return undefined;
  }

  /** False if somebody has it. */
  #create(address: string, sandboxId: string): boolean {
    const path = join(this.#directory, address);
    try {
      writeFileSync(path, `${sandboxId}\r\n${POD_LINK}`, { flag: 'wx', mode: PRIVATE_FILE });
      return true;
    } catch (error) {
      if (isErrno(error, 'EEXIST')) return false;
      rmSync(path, { force: true }); // a full disk had room for the file, and none for what is in it
      throw error;
    }
  }

  /** The number after the one given last; the first if that is unknown or was of another subnet. */
  #lastGiven({ first, last }: AddressRange, path: string): bigint {
    const text = readIfThere(path)?.trim() ?? '';
    const next = isIP(text) === 0 ? first : addressNumber(text) + 1n;
    return next >= first && next <= last ? next : first;
  }

  #addresses(): string[] {
    try {
      return readdirSync(this.#directory).filter((name) => isIP(name) !== 0);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    }
  }

  #holder(address: string): string {
    return readIfThere(join(this.#directory, address))?.split(/\r?\n/, 1)[0]?.trim() ?? '';
  }

  #lastPath = (index: number): string => join(this.#directory, `last_reserved_ip.${index}`);
}

/** `resource_exhausted` for pods that get no address. */
export function subnetFull(ranges: AddressRange[]): PodwrightError {
  const subnets = ranges.map(({ cidr }) => cidr).join(' or ');
  const hint = 'remove pods, or give network.subnet a shorter prefix';
  return new PodwrightError('resource_exhausted', `reserve an address: none is left in ${subnets}; ${hint}`);
}

/** Every number of the range once, from `start` on. */
function* candidates({ first, last }: AddressRange, start: bigint): Generator<bigint> {
  for (let number = start; number <= last; number++) yield number;
  for (let number = first; number < start; number++) yield number;
}

function samePlace(of: AddressRange, address: string, range: AddressRange): bigint | undefined {
  const number = range.network + (addressNumber(address) - of.network);
  return number >= range.first && number <= range.last ? number : undefined;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
