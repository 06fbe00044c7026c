import { readFile } from 'node:fs/promises';
import { isErrno, PodwrightError } from '@podwright/base';
import type { HostRequirements } from '@podwright/kubelet-configuration';

/** Sysctls that upstream's kubelet sets, or requires if `protectKernelDefaults` is set (pkg/kubelet/cm, pkg/util/sysctl). */
const KERNEL_DEFAULTS: Record<string, number> = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

/** Reads a file in /proc; `undefined` if it does not exist. */
export type ReadProc = (path: string) => Promise<string | undefined>;

/** Rejects with `failed_precondition` if the host does not meet the requirements, naming the expected and the actual settings. */
export async function requireOfHost(requirements: HostRequirements, read: ReadProc = readProc): Promise<void> {
  const problems = [
    ...(requirements.noSwap ? swapProblems((await read('/proc/swaps')) ?? '') : []),
    ...(requirements.kernelDefaults ? await kernelProblems(read) : []),
  ];
  if (problems.length > 0) throw new PodwrightError('failed_precondition', `start the kubelet: ${problems.join('; ')}`);
}

/**
 * Reports active swap as a problem, given the content of /proc/swaps, whose first line is a header. As in upstream, swap in compressed
 * memory (zram) counts too.
 */
function swapProblems(swaps: string): string[] {
  const names = swaps
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s/)[0]!);
  if (names.length === 0) return [];
  return [
    `running with swap on is not supported, please disable swap or set failSwapOn (--fail-swap-on) to false; there is ${names.join(', ')}`,
  ];
}

async function kernelProblems(read: ReadProc): Promise<string[]> {
  const problems = await Promise.all(
    Object.entries(KERNEL_DEFAULTS).map(async ([name, wanted]) => {
      const found = (await read(`/proc/sys/${name}`))?.trim();
      if (found === String(wanted)) return [];
      return [`invalid kernel flag: ${name}, expected value: ${wanted}, actual value: ${found ?? 'none'}`];
    }),
  );
  return problems.flat();
}

async function readProc(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
