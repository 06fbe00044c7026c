import type { OciProcess } from '../oci/spec.ts';

export type ExecCommand = { command: string[]; terminal: boolean; terminalName?: string };

/**
 * The OCI process of an exec: the process of the task with another command. On a terminal it gets a TERM, as with containerd and Docker,
 * unless the container sets one.
 */
export function execProcess(task: OciProcess, { command, terminal, terminalName = 'xterm' }: ExecCommand): OciProcess {
  const { env } = task;
  const named = !terminal || env.some((variable) => variable.startsWith('TERM='));
  return { ...task, args: command, terminal, env: named ? env : [...env, `TERM=${terminalName}`] };
}
