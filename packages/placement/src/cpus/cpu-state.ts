import { PodwrightError } from '@podwright/base';
import { formatCpus, parseCpus } from '@podwright/kube-api';
import { checksumOf, goMap, readStateFile, writeStateFile } from '../topology/state-file.ts';

/** The shared CPUs, and the exclusive CPUs by pod UID and container name. */
export type CpuState = { shared: number[]; own: Record<string, Record<string, number[]>> };

/** Upstream's file format (cpumanager/state), without pod-level entries. */
type StateFile = {
  policyName: string;
  defaultCpuSet: string;
  entries?: Record<string, Record<string, string>>;
  checksum: number;
};

/**
 * Reads the assignments made by an earlier kubelet; `undefined` if there is no file. Rejects with `failed_precondition` if the file is
 * corrupt or was written under a different policy: it is then unknown which CPUs running containers use.
 */
export async function readCpuState(path: string, policy: 'none' | 'static'): Promise<CpuState | undefined> {
  try {
    const value = (await readStateFile(path)) as StateFile | undefined;
    if (value === undefined) return undefined;
    if (checksumOf(goState(value)) !== value.checksum) throw new Error('checkpoint is corrupted');
    if (value.policyName !== policy)
      throw new Error(`configured policy "${policy}" differs from state checkpoint policy "${value.policyName}"`);
    const own = Object.entries(value.entries ?? {}).map(([uid, all]) => [uid, mapValues(all, parseCpus)] as const);
    return { shared: parseCpus(value.defaultCpuSet), own: Object.fromEntries(own) };
  } catch (error) {
    const advice = `please drain this node and delete the CPU manager checkpoint file "${path}" before restarting Kubelet`;
    const why = `could not restore state from checkpoint: ${(error as Error).message}, ${advice}`;
    throw new PodwrightError('failed_precondition', why, { cause: error });
  }
}

export function writeCpuState(path: string, { shared, own }: CpuState): Promise<void> {
  const entries = mapValues(own, (all) => mapValues(all, formatCpus));
  const state = { policyName: 'static', defaultCpuSet: formatCpus(shared), entries };
  const checksum = checksumOf(goState({ ...state, checksum: 0 }));
  return writeStateFile(path, { ...state, entries: Object.keys(entries).length === 0 ? undefined : entries, checksum });
}

function goState({ policyName, defaultCpuSet, entries = {} }: StateFile): string {
  const all = goMap(entries, (containers) => goMap(containers, String));
  return `(*state.CPUManagerCheckpoint){PolicyName:(string)${policyName} DefaultCPUSet:(string)${defaultCpuSet} Entries:(map[string]map[string]string)${all} Checksum:(checksum.Checksum)0}`;
}

function mapValues<T, U>(record: Record<string, T>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
