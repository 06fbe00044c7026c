import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** Minimal Debian installations without systemd, built once by mmdebstrap from the distribution's mirror. */
const GUESTS = process.env.PODWRIGHT_TEST_GUESTS ?? '/var/tmp/podwright-guests';
export const SUITES = ['bookworm', 'trixie'] as const;
export type Suite = (typeof SUITES)[number];

/** mmdebstrap options: essential packages, apt and mount, without documentation and locales. */
const RECIPE = [
  '--variant=apt',
  '--include=mount',
  ...['doc', 'locale', 'man'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
];

/** Returns a distribution's root directory, which must not be modified. Fails if mmdebstrap is not installed. */
export async function debian(suite: Suite): Promise<string> {
  const root = join(GUESTS, suite);
  mkdirSync(GUESTS, { recursive: true, mode: 0o755 });
  const { uid, mode } = lstatSync(GUESTS);
  assert.ok(
    uid === process.getuid!() && (mode & 0o022) === 0,
    `${GUESTS} must be your own directory, not writable by others`,
  );
  if (existsSync(root)) return root;
  const partial = mkdtempSync(join(GUESTS, 'partial-'));
  const child = spawn('mmdebstrap', ['--quiet', ...RECIPE, suite, join(partial, 'root')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number];
  assert.equal(code, 0, `mmdebstrap of ${suite}`);
  renameSync(join(partial, 'root'), root);
  rmSync(partial, { recursive: true });
  return root;
}

/** Creates a root directory with nothing but a static busybox, similar to musl distributions. Its C library is an empty file. */
export function busyboxRoot(library: string): string {
  const root = mkdtempSync(join(tmpdir(), 'podwright-busybox-'));
  for (const directory of ['bin', 'dev', 'etc', 'lib', 'lib64', 'mnt', 'proc', 'run', 'sys', 'tmp', 'usr/local/bin'])
    mkdirSync(join(root, directory), { recursive: true });
  execFileSync('cp', ['/bin/busybox', join(root, 'bin/busybox')]);
  execFileSync('chroot', [root, '/bin/busybox', '--install', '-s', '/bin']);
  execFileSync('touch', [join(root, library)]);
  return root;
}

const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };

export type Result = { code: number; out: string; err: string };
/** `paths`: host directories to mount in the guest at the same paths. */
export type GuestOptions = { root: string; share: string; paths?: string[] };

/** Mounts a guest in its own mount and PID namespaces; all mounts and processes disappear along with them. */
const BOOT = `set -e
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
cd "$2/root"
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount --bind "$3" mnt
mount -t tmpfs tmpfs run
cp /etc/resolv.conf /etc/hosts etc/
shift 3
for path; do mkdir -p "./$path" && mount --bind "$path" "./$path"; done
exec chroot . /bin/sh -c 'echo ready; exec sleep 1000000'`;

/**
 * A copy-on-write view of a root directory, with changes in memory and the directory `share` at /mnt. It shares the host's network and
 * cgroups.
 */
export class Guest {
  readonly #upper: string;
  readonly #init: number;
  readonly #end: () => Promise<void>;

  static async start({ root, share, paths = [] }: GuestOptions): Promise<Guest> {
    const directory = mkdtempSync('/dev/shm/podwright-guest-');
    for (const name of ['upper', 'work', 'root']) mkdirSync(join(directory, name));
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private'];
    const boot = spawn('unshare', [...namespaces, 'sh', '-c', BOOT, 'sh', root, directory, share, ...paths], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(boot, 'exit');
    const [line] = (await Promise.race([once(createInterface(boot.stdout), 'line'), ended])) as [unknown];
    assert.equal(line, 'ready');
    const end = async () => {
      boot.kill('SIGKILL');
      await ended;
      rmSync(directory, { recursive: true });
    };
    const [init] = readFileSync(`/proc/${boot.pid}/task/${boot.pid}/children`, 'utf8').split(' ');
    return new Guest(join(directory, 'upper'), Number(init), end);
  }

  private constructor(upper: string, init: number, end: () => Promise<void>) {
    this.#upper = upper;
    this.#init = init;
    this.#end = end;
  }

  /** Runs shell commands in the guest as root. */
  run(script: string, env: Record<string, string> = {}): Result {
    const inside = ['--target', String(this.#init), '--mount', '--pid', '--root', '--wd'];
    const { status, signal, stdout, stderr } = spawnSync('nsenter', [...inside, '/bin/sh', '-c', script], {
      encoding: 'utf8',
      input: '',
      timeout: 120_000,
      killSignal: 'SIGTERM',
      env: { ...ENVIRONMENT, ...env },
    });
    return { code: status ?? (signal === 'SIGKILL' ? 137 : -1), out: stdout, err: stderr };
  }

  /** Runs shell commands in the guest, which must succeed. Returns their output. */
  ok(script: string, env: Record<string, string> = {}): string {
    const { code, out, err } = this.run(script, env);
    assert.equal(code, 0, `${script}\n${out}${err}`);
    return out;
  }

  /** Like `ok`, but asynchronous, so that this process can act as a server, for example. */
  async later(script: string): Promise<string> {
    const inside = ['--target', String(this.#init), '--mount', '--pid', '--root', '--wd'];
    const child = promisify(execFile)('nsenter', [...inside, '/bin/sh', '-c', script], { env: ENVIRONMENT });
    return (await child).stdout;
  }

  /** Runs shell commands in the guest, which must fail with exit code 1 and a matching message. */
  fails(script: string, message: RegExp): void {
    const { code, out, err } = this.run(script);
    assert.match(err, message);
    assert.equal(code, 1, out);
  }

  /** Returns all directories of the guest, and all files that were created, changed or removed, with their hashes. */
  tree(): string[] {
    const directories = this.ok('find / -xdev -path /tmp -prune -o -path /root -prune -o -type d -print').split('\n');
    const changed = execFileSync(
      'find',
      ['.', ...'-path ./tmp -prune -o -path ./root -prune -o ! -type d -print'.split(' ')],
      {
        cwd: this.#upper,
        encoding: 'utf8',
      },
    );
    const files = changed
      .split('\n')
      .filter(Boolean)
      .sort()
      .map((name) => `${name} ${this.#content(name)}`);
    return [...directories.filter(Boolean).sort(), ...files];
  }

  #content(name: string): string {
    const path = join(this.#upper, name);
    const found = lstatSync(path);
    if (found.isSymbolicLink()) return readlinkSync(path);
    return found.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'removed';
  }

  async stop(): Promise<void> {
    await this.#end();
  }
}
