import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { discoverCgroups, endDelegation, runChecked } from '@podwright/host';
import { BRIDGE } from './sides.ts';

/** Removes what stopped daemons leave on the host for their next start: links, nftables, mounts, cgroups, `scratch`. */
export async function leaveNothing(scratch: string): Promise<void> {
  for (const link of readdirSync('/sys/class/net').filter((name) => name.startsWith(BRIDGE)))
    await runChecked('ip', ['link', 'delete', link]);
  for (const [, family, table] of (await nftTables()).matchAll(/^table (\w+) (\S+)$/gm))
    if (table!.includes(BRIDGE)) await runChecked('nft', ['delete', 'table', family!, table!]);
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  const points = mounts.map((line) => line.split(' ')[4]!);
  for (const point of points.filter((one) => one.startsWith(`${scratch}/`)).reverse())
    await runChecked('umount', ['--lazy', point]);
  rmSync(scratch, { recursive: true, force: true });
  for (const tree of cgroupTrees())
    for (const name of directories(tree).filter((one) => one.startsWith(BRIDGE)))
      if (name.endsWith('.service')) await endDelegation(await discoverCgroups(), `/${name}/pods`);
      else removeCgroups(join(tree, name));
}

/** Returns the mount points of cgroup hierarchies. */
export function cgroupTrees(): string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  return mounts.filter((line) => / - cgroup2? /.test(line)).map((line) => line.split(' ')[4]!);
}

/** Lists nftables tables; returns '' if nft(8) is missing. `make setup-dev` installs it; Podwright itself does not need it. */
const nftTables = () => runChecked('nft', ['list', 'tables']).catch(() => '');

function removeCgroups(path: string): void {
  for (const name of directories(path)) removeCgroups(join(path, name));
  rmdirSync(path);
}

function directories(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
