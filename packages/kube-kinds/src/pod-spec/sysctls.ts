import { dottedSysctl } from '@podwright/kube-api';
import type { Field } from '../field.ts';
import { type JsonObject, objectsAt, textAt, valueAt } from '../values.ts';
import type { PodOptions } from './options.ts';

const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const PATTERN = `^(${SEGMENT}[\\./])*${SEGMENT}$`;
// pattern of sysctl names; does not nest repetitions as upstream's does, which would take quadratic time
const NAME = /^[a-z0-9](?:[-_a-z0-9./]*[a-z0-9])?$/;
const MAX_LENGTH = 253;

const SHARED_MEMORY = ['shm', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced'];
const MESSAGES = ['msg', 'msgmax', 'msgmnb', 'msgmni'];
const IPC_NAMES = ['sem', ...SHARED_MEMORY, ...MESSAGES].map((name) => `kernel.${name}`);

/** Validates a pod's sysctls (validateSysctls). `field` is the field of the sysctl list. */
export function validateSysctls(spec: JsonObject, field: Field, { allowHostSysctls }: PodOptions): void {
  const names = new Set<string>();
  for (const [index, sysctl] of objectsAt(spec, 'securityContext', 'sysctls').entries()) {
    const name = textAt(sysctl, 'name');
    const at = field.at(index, 'name');
    if (name === '') at.required();
    else if (!isSysctlName(name))
      at.invalid(name, `must have at most ${MAX_LENGTH} characters and match regex ${PATTERN}`);
    else if (names.has(name)) at.duplicate(name);
    const problem = allowHostSysctls ? undefined : hostSysctlProblem(name, spec);
    if (problem !== undefined) at.invalid(name, problem);
    names.add(name);
  }
}

function isSysctlName(name: string): boolean {
  return name.length <= MAX_LENGTH && NAME.test(name) && name.split(/[./]/).every(isSegment);
}

const isSegment = (segment: string): boolean => /^[a-z0-9]/.test(segment) && /[a-z0-9]$/.test(segment);

/** Returns why a sysctl must not be set, if the pod shares the sysctl's namespace with the host. */
export function hostSysctlProblem(name: string, spec: JsonObject): string | undefined {
  const dotted = dottedSysctl(name);
  const isNet = dotted.startsWith('net.');
  const isIpc = IPC_NAMES.includes(dotted) || dotted.startsWith('fs.mqueue.');
  if (isNet && valueAt(spec, 'hostNetwork') === true) return "may not be specified when 'hostNetwork' is true";
  if (isIpc && valueAt(spec, 'hostIPC') === true) return "may not be specified when 'hostIPC' is true";
  return undefined;
}
