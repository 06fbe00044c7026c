import { BLOCK_BYTES } from './tar-header.ts';

/** An entry for `tarArchive`. Numeric fields default to 0, the mode to 644 (octal). */
export type FixtureEntry = {
  name: string | Buffer;
  /** The entry's type flag. Default: `0` (a regular file). */
  flag?: string;
  link?: string | Buffer;
  mode?: number;
  uid?: number;
  gid?: number;
  mtime?: number;
  device?: [number, number];
  body?: string | Buffer;
  /** Overrides the size in the entry's header, for example to make it wrong. */
  size?: number;
  /** PAX records to write in an extended header before this entry. */
  pax?: Record<string, string | Buffer>;
};

/** Writes a tar archive without any checks, because tests need invalid and hostile archives, which tar programs do not write. */
export function tarArchive(entries: FixtureEntry[], end = true): Buffer {
  const blocks = entries.flatMap((entry) => [...paxHeader(entry), ...oneEntry(entry)]);
  return Buffer.concat([...blocks, Buffer.alloc(end ? 2 * BLOCK_BYTES : 0)]);
}

function paxHeader({ pax }: FixtureEntry): Buffer[] {
  if (pax === undefined) return [];
  const body = Buffer.concat(Object.entries(pax).map(([keyword, value]) => paxRecord(keyword, value)));
  return oneEntry({ name: 'PaxHeaders/x', flag: 'x', body });
}

/** Formats a PAX record. Its length includes its own digits. */
export function paxRecord(keyword: string, value: string | Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${keyword}=`), Buffer.from(value), Buffer.from('\n')]);
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function oneEntry(entry: FixtureEntry): Buffer[] {
  const body = Buffer.from(entry.body ?? '');
  const padding = (BLOCK_BYTES - (body.length % BLOCK_BYTES)) % BLOCK_BYTES;
  return [headerBlock(entry, body.length), body, Buffer.alloc(padding)];
}

function headerBlock(entry: FixtureEntry, bodyBytes: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, length: number) =>
    block.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1');
  Buffer.from(entry.name).copy(block, 0, 0, 100);
  octal(entry.mode ?? 0o644, 100, 8);
  octal(entry.uid ?? 0, 108, 8);
  octal(entry.gid ?? 0, 116, 8);
  octal(entry.size ?? bodyBytes, 124, 12);
  octal(entry.mtime ?? 0, 136, 12);
  block.write(entry.flag ?? '0', 156, 'latin1');
  Buffer.from(entry.link ?? '').copy(block, 157, 0, 100);
  block.write('ustar\x0000', 257, 'latin1');
  octal(entry.device?.[0] ?? 0, 329, 8);
  octal(entry.device?.[1] ?? 0, 337, 8);
  return withChecksum(block);
}

export function withChecksum(block: Buffer): Buffer {
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
