import type { OciProcess } from '@podwright/oci';

export type ExecCommand = { command: string[]; terminal: boolean; terminalName?: string };

/**
 * Builds an exec's OCI process: the task's process with a different command. On a terminal, TERM is set unless the container sets it, as in
 * containerd and Docker.
 */
export function execProcess(task: OciProcess, { command, terminal, terminalName = 'xterm' }: ExecCommand): OciProcess {
  const { env } = task;
  const named = !terminal || env.some((variable) => variable.startsWith('TERM='));
  return { ...task, args: command, terminal, env: named ? env : [...env, `TERM=${terminalName}`] };
}
