import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isErrno, makePrivateDirectory, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { type AddressRange, addressAt, addressNumber } from './address-range.ts';
import { POD_LINK } from './link-names.ts';

/**
 * Records which sandbox has which address. Each address has its own file, named after the address, with the sandbox ID in its first line.
 * The format is that of the CNI plugin `host-local`, which earlier versions of Podwright used, so that addresses assigned by those versions
 * are not assigned twice. The directory is in memory and belongs to a single container runtime, so synchronous file access is fast and
 * safe.
 */
export class AddressStore {
  readonly #directory: string;

  constructor(addressDirectory: string, network: string) {
    this.#directory = join(addressDirectory, network);
  }

  /** Returns the reserved addresses by sandbox ID. */
  held(): Map<string, string[]> {
    const held = new Map<string, string[]>();
    for (const address of this.#addresses()) {
      const id = this.#holder(address);
      if (id !== '') held.set(id, [...(held.get(id) ?? []), address]);
    }
    return held;
  }

  /**
   * Reserves an address from each range for a sandbox, starting after the last assigned one. In the second range, prefers the address with
   * the same offset as in the first, because such a pair always has the same hardware address. Returns `undefined` if a range has no free
   * address. Nothing is reserved in that case, nor if this throws.
   */
  reserve(sandboxId: string, ranges: AddressRange[]): string[] | undefined {
    makePrivateDirectory(this.#directory);
    let reserved: string[] | undefined;
    try {
      reserved = this.#reserveEach(sandboxId, ranges);
      return reserved;
    } finally {
      if (reserved === undefined) this.release(sandboxId, this.held().get(sandboxId) ?? []);
    }
  }

  /** Releases a sandbox's addresses, except any that have since been assigned to another sandbox. */
  release(sandboxId: string, addresses: readonly string[]): void {
    for (const address of addresses)
      if (this.#holder(address) === sandboxId) rmSync(join(this.#directory, address), { force: true });
  }

  /** Removes empty files, left behind by a process that was killed after creating a file and before writing to it. */
  removeUnfinished(): void {
    this.release('', this.#addresses());
  }

  #reserveEach(sandboxId: string, ranges: AddressRange[]): string[] | undefined {
    const reserved: string[] = [];
    for (const [index, range] of ranges.entries()) {
      const preferred = index === 0 ? undefined : sameOffset(ranges[0]!, reserved[0]!, range);
      const address = this.#reserveOne(sandboxId, { range, last: this.#lastPath(index), preferred });
      if (address === undefined) return undefined;
      reserved.push(address);
    }
    return reserved;
  }

  #reserveOne(
    sandboxId: string,
    { range, last, preferred }: { range: AddressRange; last: string; preferred: bigint | undefined },
  ): string | undefined {
    let taken: Set<string> | undefined;
    for (const number of candidates(range, preferred ?? this.#nextAfterLast(range, last))) {
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

  /** Creates an address's file. Returns false if the address is already assigned. */
  #create(address: string, sandboxId: string): boolean {
    const path = join(this.#directory, address);
    try {
      writeFileSync(path, `${sandboxId}\r\n${POD_LINK}`, { flag: 'wx', mode: PRIVATE_FILE });
      return true;
    } catch (error) {
      if (isErrno(error, 'EEXIST')) return false;
      rmSync(path, { force: true }); // a full disk may have room for the file, but not for its content
      throw error;
    }
  }

  /**
   * Returns the address (as a number) after the last assigned one; the range's first address if the last assigned one is unknown or out of
   * range.
   */
  #nextAfterLast({ first, last }: AddressRange, path: string): bigint {
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

/** Builds the error for a pod that cannot get an address because all addresses are in use. */
export function subnetFull(ranges: AddressRange[]): PodwrightError {
  const subnets = ranges.map(({ cidr }) => cidr).join(' or ');
  const hint = 'remove pods, or give network.subnet a shorter prefix';
  return new PodwrightError('resource_exhausted', `reserve an address: none is left in ${subnets}; ${hint}`);
}

/** Yields each address in the range (as a number) once, starting at `start`. */
function* candidates({ first, last }: AddressRange, start: bigint): Generator<bigint> {
  for (let number = start; number <= last; number++) yield number;
  for (let number = first; number < start; number++) yield number;
}

function sameOffset(of: AddressRange, address: string, range: AddressRange): bigint | undefined {
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
