import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { discoverCgroups, killCgroup, removeCgroup } from '@podwright/host';

/**
 * Makes /etc, /var and /run writable in memory, except for the node's directories: these are in the directory $1, because images need
 * overlays, which cannot be stacked on an overlay. $2 is the node's cgroup, the only resource shared with the real host.
 */
const MAKE_HOST = `
mkdir -p "$1/layers"
mount -t tmpfs -o mode=755 tmpfs "$1/layers"
for name in etc var; do
  mkdir "$1/layers/$name" "$1/layers/$name.work"
  mount -t overlay overlay -o "lowerdir=/$name,upperdir=$1/layers/$name,workdir=$1/layers/$name.work" "/$name"
done
mount -t tmpfs -o mode=755 tmpfs /run
for directory in /var/lib/podwright /var/log/pods; do
  mkdir -p "$1$directory" "$directory"
  mount --bind "$1$directory" "$directory"
done
rm -rf /etc/podwright /etc/cni/net.d
mkdir -p /etc/podwright
echo "cgroup_parent = '$2'" > /etc/podwright/config.toml
ip link set lo up
echo ready
exec catatonit -P
`;

/**
 * A simulated host for commands with default settings. It has its own network, processes, /etc, /var and /run, so that its node can use the
 * default directories, bridge and ports next to other nodes. Requires root. Everything is removed on disposal.
 */
export class PrivateHost implements AsyncDisposable {
  /** Directory for files, at the same path inside and outside the host. */
  readonly directory: string;
  readonly cgroupParent: string;
  readonly #init: ChildProcess;

  private constructor(directory: string) {
    this.directory = directory;
    this.cgroupParent = `/${basename(directory)}`;
    // Killing unshare kills all processes of the host.
    const flags = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
    this.#init = spawn(
      'unshare',
      [...flags, 'sh', '-ec', MAKE_HOST, 'sh', join(directory, 'host'), this.cgroupParent],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
  }

  /** Creates the simulated host; rejects if the real host does not permit it. */
  static async start(): Promise<PrivateHost> {
    const host = new PrivateHost(mkdtempSync(join(tmpdir(), 'podwright-private-')));
    const first = await createInterface({ input: host.#init.stdout! })[Symbol.asyncIterator]().next();
    if (first.value === 'ready') return host;
    await host[Symbol.asyncDispose]();
    throw new Error('make a private host: see the error above');
  }

  /** PID of a process in the host's network namespace. */
  get pid(): number {
    return this.#init.pid!;
  }

  command(workingDirectory: string, ...words: string[]): string[] {
    const of = `/proc/${this.#init.pid}/ns`;
    const namespaces = [`--mount=${of}/mnt`, `--net=${of}/net`, `--pid=${of}/pid_for_children`];
    return ['nsenter', ...namespaces, `--wdns=${workingDirectory}`, '--', ...words];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#init.exitCode === null && this.#init.signalCode === null) {
      const ended = once(this.#init, 'exit');
      this.#init.kill('SIGKILL');
      await ended;
    }
    const hierarchy = await discoverCgroups();
    await killCgroup(hierarchy, this.cgroupParent);
    await removeCgroup(hierarchy, this.cgroupParent);
    rmSync(this.directory, { recursive: true, force: true });
  }
}
