import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import type { System } from '../../packages/system/src/system.ts';

/** An entry's description (path, type, mode, owner, size, link target, device, content and extended attributes) and its mtime. */
export type DescribedEntry = { line: string; mtimeMs: number };

/** Tolerance for times: Node.js represents them as floating-point seconds, and sets them with microsecond precision. */
const TIME_TOLERANCE_MS = 0.002;

/** Describes a tree completely. Hard links are described by the first name. Two trees are equal if their descriptions are. */
export function describeTree(directory: string, system: System): DescribedEntry[] {
  const firstNames = new Map<number, string>();
  const entries: DescribedEntry[] = [];
  const walk = (path: Buffer, name: string) => {
    const stat = lstatSync(path);
    const twin = stat.nlink > 1 && !stat.isDirectory() ? firstNames.get(stat.ino) : undefined;
    if (stat.nlink > 1) firstNames.set(stat.ino, firstNames.get(stat.ino) ?? name);
    const line = [name, twin ?? '', describe(path, stat), describeXattrs(path, system)].join(' | ');
    entries.push({ line, mtimeMs: stat.mtimeMs });
    if (!stat.isDirectory()) return;
    for (const child of readdirSync(path, { encoding: 'buffer' }).sort(Buffer.compare)) {
      walk(Buffer.concat([path, Buffer.from('/'), child]), `${name}/${child.toString('latin1')}`);
    }
  };
  walk(Buffer.from(directory), '.');
  return entries;
}

export function assertSameTree(actual: string, expected: string, system: System): void {
  const [ours, theirs] = [actual, expected].map((path) => describeTree(path, system));
  const lines = (entries: DescribedEntry[]) => entries.map(({ line }) => line);
  assert.deepEqual(lines(ours!), lines(theirs!));
  for (const [index, { line, mtimeMs }] of ours!.entries()) {
    const difference = Math.abs(mtimeMs - theirs![index]!.mtimeMs);
    assert.ok(difference <= TIME_TOLERANCE_MS, `${line}: its time differs by ${difference} ms`);
  }
}

function describe(path: Buffer, stat: Stats): string {
  const fields = [stat.mode.toString(8), stat.uid, stat.gid, stat.rdev];
  if (stat.isSymbolicLink()) fields.push(readlinkSync(path, { encoding: 'latin1' }));
  if (stat.isFile()) fields.push(stat.size, createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16));
  return fields.join(' ');
}

function describeXattrs(path: Buffer, system: System): string {
  const names = system.listXattrs(path).sort();
  return names.map((name) => `${name}=${system.getXattr(path, name)?.toString('hex')}`).join(' ');
}
