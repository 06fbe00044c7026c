import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, runChecked } from '@podwright/host';
import { writeExampleArchive } from '../scripts/example-image.ts';
import { IMAGE, PEER, writeNetworkList } from './sides.ts';

/** The Podman to compare with: PODWRIGHT_BENCH_PODMAN, or the one in PATH. */
const PODMAN = process.env.PODWRIGHT_BENCH_PODMAN ?? 'podman';

/** Podman with runc and a CNI network like containerd's; all its state is in a directory of the benchmark. */
export type Podman = {
  version: string;
  network: string;
  env: NodeJS.ProcessEnv;
  command: (...args: string[]) => string[];
};

/** Returns `undefined` if Podman is not installed. */
export async function openPodman(scratch: string, index: number): Promise<Podman | undefined> {
  const program = findProgram(PODMAN);
  if (program === undefined) return undefined;
  const directory = join(scratch, 'podman');
  mkdirSync(join(directory, 'cni'), { recursive: true });
  const network = writeNetworkList(directory, index);
  const settings = join(directory, 'containers.conf');
  // lower limits than Podman's default of about a million open files and processes, which some hosts do not allow
  writeFileSync(settings, '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n');
  const env = { ...process.env, CONTAINERS_CONF: settings };
  const flags = {
    root: join(directory, 'root'),
    runroot: join(directory, 'run'),
    tmpdir: join(directory, 'tmp'),
    'network-config-dir': join(directory, 'cni'),
    'cgroup-manager': 'cgroupfs',
    'events-backend': 'file',
    runtime: PEER.runc,
  };
  const words = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const command = (...args: string[]) => [program, ...words, ...args];
  const archive = join(directory, 'image.tar');
  await writeExampleArchive(archive, { name: IMAGE });
  await runChecked(program, [...words, 'load', '-i', archive], { env });
  const version = (await runChecked(program, ['--version'])).trim().split(' ').at(-1)!;
  return { version, network, env, command };
}
