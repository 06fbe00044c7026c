/**
 * Helpers for testing an installed release in a guest. They only use Node.js itself, because the guest has the releases but no npm
 * packages.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Directories of the older and the newer release; IMAGE is the archive of the image that the pods use. */
export const [OLD, NEXT] = ['/guest/releases/old', '/guest/releases/next'];
export const IMAGE = '/guest/releases/image.tar';

/** A delay in ms longer than the unit's RestartSec, after which systemd would have restarted the node. */
export const RESTART_MS = 5000;

/** Generous timeout, because an emulated CPU is slow. */
const TIMEOUT_MS = 120_000;

export type Result = { code: number | null; out: string };

/** Runs shell commands to completion. `out` contains standard output and standard error. */
export function call(script: string, env: Record<string, string> = {}): Result {
  const { status, stdout } = spawnSync('bash', ['-c', `exec 2>&1; ${script}`], {
    encoding: 'utf8',
    input: '',
    timeout: 2 * TIMEOUT_MS,
    maxBuffer: 2 ** 26,
    env: { ...process.env, ...env },
  });
  return { code: status, out: stdout };
}

export function ok(script: string, env?: Record<string, string>): string {
  const { code, out } = call(script, env);
  assert.equal(code, 0, `${script}: exit code ${code}\n${out}\n${call('journalctl -b -n 30 -o cat -u podwright').out}`);
  return out;
}

export function fails(script: string, message: RegExp): void {
  const { code, out } = call(script);
  assert.match(out, message);
  assert.notEqual(code, 0, out);
}

/** Retries `condition` until it returns a value other than undefined or false. Errors are retried too. */
export async function until<T>(condition: () => T | false | undefined): Promise<T> {
  const end = Date.now() + TIMEOUT_MS;
  for (;;) {
    try {
      const found = condition();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    if (Date.now() > end)
      throw new Error(`${condition} after ${TIMEOUT_MS} ms\n${call('podwright ps; systemctl status podwright').out}`);
    await delay(200);
  }
}

export const versionOf = (release: string) =>
  /podwright-(.*)-linux-x64\.tar\.zst/.exec(readdirSync(release).find((name) => name.endsWith('.zst'))!)![1]!;

export const unitProperty = (name: string, unit = 'podwright') =>
  ok(`systemctl show --property=${name} --value ${unit}`).trim();

/** Waits until a node responds; returns its version. */
export const nodeVersion = () => until(() => (JSON.parse(ok('podwright version -o json')) as { node?: string }).node);

type Status = { containerID: string; restartCount: number; state: { running?: { startedAt: string } } };
type Pod = { metadata: { name: string }; status: { phase: string; containerStatuses?: Status[] } };

/** Returns all pods' running containers: pod, container ID, restart count, start time. */
export function containers(): string[] {
  const { items } = JSON.parse(ok('podwright ps -o json')) as { items: Pod[] };
  return items
    .flatMap(({ metadata, status }) =>
      (status.containerStatuses ?? []).map(
        ({ containerID, restartCount, state }) =>
          `${metadata.name} ${containerID} ${restartCount} ${state.running?.startedAt}`,
      ),
    )
    .sort();
}

/** Whether the guest only has cgroup v2, in which case the pods are in a separate unit. */
export const isUnified = existsSync('/sys/fs/cgroup/cgroup.controllers');

const PODS = isUnified ? '/sys/fs/cgroup/podwright-pods.service/pods' : '/sys/fs/cgroup/pids/podwright';

/** Returns the processes that belong to pods: monitors, and everything under the pods' cgroup. */
export function podProcesses(): { monitors: number[]; inside: number[] } {
  const monitors = processes().filter(({ words }) => /(?:^|\/)conmon$/.test(words[0]!));
  return { monitors: monitors.map(({ pid }) => pid), inside: pidsBelow(PODS) };
}

export function processes(): { pid: number; words: string[] }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return words[0] === '' ? [] : [{ pid: Number(pid), words }];
      } catch {
        return []; // it has ended
      }
    });
}

export function pidsBelow(directory: string): number[] {
  if (!existsSync(directory)) return [];
  const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const own = readFileSync(`${directory}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(Number);
  return [...own, ...below.flatMap(({ name }) => pidsBelow(`${directory}/${name}`))].sort((a, b) => a - b);
}

/** Returns the cgroup that systemd tracks a process in. */
export const cgroupOf = (pid: number) =>
  /^(?:0:|\d+:name=systemd):(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))![1]!;

/** Returns the pods' containers and processes as text, which must not change while just the node restarts. */
export const podState = () => JSON.stringify({ containers: containers(), ...podProcesses() }, undefined, 1);

/** Returns the links, mounts, units, cgroups and processes that pods and nodes create on the host. */
export function traces() {
  const lines = (script: string) => call(script).out.split('\n').filter(Boolean).sort();
  return {
    links: lines(`ip -o link | sed -n 's/^[0-9]*: \\([^:@]*\\).*/\\1/p' | grep -E '^(podwright|pw|veth)'`),
    mounts: lines(`awk '{ print $5 }' /proc/self/mountinfo | grep podwright`),
    units: lines(
      `systemctl list-units --all --plain --no-legend | awk '{ print $1 }' | grep -i podwright | grep -v podwright-vm`,
    ),
    cgroups: lines('find /sys/fs/cgroup -type d -name "*podwright*" ! -name "podwright-vm*"'),
    processes: processes()
      .filter(({ pid, words }) => /(?:^|\/)(?:conmon|podwright|catatonit)$/.test(words[0]!) && pid !== process.pid)
      .map(({ words }) => words.join(' ')),
    rules: lines(`iptables-save 2> /dev/null | grep -i podwright`),
    namespaces: lines('ls /run/netns 2> /dev/null'),
  };
}

/** Returns a pod that runs until stopped, with a volume that outlives its containers. */
export const podManifest = (name: string) => `apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{ name: data, emptyDir: {} }]
  containers:
    - name: main
      image: localhost/podwright/busybox:1
      command: [sh, -c, "echo start >> /data/starts; echo started; trap 'exit 0' TERM; sleep 100000 & wait $!"]
      volumeMounts: [{ name: data, mountPath: /data }]
`;

/** Starts pods with these names and waits until they are ready. */
export async function runPods(...names: string[]): Promise<void> {
  ok(`podwright load ${IMAGE}`);
  writeFileSync('/root/pods.yaml', names.map(podManifest).join('---\n'));
  ok('podwright run --detach /root/pods.yaml');
  for (const name of names) ok(`podwright wait pod/${name} --for=condition=Ready --timeout=100s`);
}

export const programOf = (pid: string) => readlinkSync(`/proc/${pid}/exe`);
