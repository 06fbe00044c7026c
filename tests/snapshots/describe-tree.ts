import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import type { System } from '../../packages/runtime/src/sys/system.ts';

/** What to leave out of the description, and what takes the place of the real attributes. */
export type DescribeOptions = {
  system: System;
  /** Names of extended attributes that count; all unless given. */
  keepXattr?: (name: string) => boolean;
};

/**
 * One line an entry of a tree: path, kind, mode, owner, time to the microsecond, size, link target, device, content and extended
 * attributes; hard links by the first name. Two trees are equal if their descriptions are.
 */
export function describeTree(directory: string, options: DescribeOptions): string[] {
  const firstNames = new Map<number, string>();
  const lines: string[] = [];
  const walk = (path: Buffer, name: string) => {
    const stat = lstatSync(path);
    const twin = stat.nlink > 1 && !stat.isDirectory() ? firstNames.get(stat.ino) : undefined;
    if (stat.nlink > 1) firstNames.set(stat.ino, firstNames.get(stat.ino) ?? name);
    lines.push([name, twin ?? '', describe(path, stat), describeXattrs(path, options)].join(' | '));
    if (!stat.isDirectory()) return;
    for (const child of readdirSync(path, { encoding: 'buffer' }).sort(Buffer.compare)) {
      walk(Buffer.concat([path, Buffer.from('/'), child]), `${name}/${child.toString('latin1')}`);
    }
  };
  walk(Buffer.from(directory), '.');
  return lines;
}

function describe(path: Buffer, stat: Stats): string {
  // rounded: times go through a floating point number of seconds
  const fields = [stat.mode.toString(8), stat.uid, stat.gid, Math.round(stat.mtimeMs * 100) / 100, stat.rdev];
  if (stat.isSymbolicLink()) fields.push(readlinkSync(path, { encoding: 'latin1' }));
  if (stat.isFile()) fields.push(stat.size, createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16));
  return fields.join(' ');
}

function describeXattrs(path: Buffer, { system, keepXattr }: DescribeOptions): string {
  const names = system.listXattrs(path).filter((name) => keepXattr?.(name) ?? true);
  return names
    .sort()
    .map((name) => `${name}=${system.getXattr(path, name)?.toString('hex')}`)
    .join(' ');
}
