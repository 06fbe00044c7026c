import type { OciProcess } from '../oci/spec.ts';

export type ExecCommand = { command: string[]; terminal: boolean; terminalName?: string };

/**
 * The process of an exec: that of the task with another command. On a terminal it has a TERM, as from containerd and Docker; one
 * that the container sets itself stays.
 */
export function execProcess(task: OciProcess, { command, terminal, terminalName = 'xterm' }: ExecCommand): OciProcess {
  const { env } = task;
  const named = !terminal || env.some((variable) => variable.startsWith('TERM='));
  return { ...task, args: command, terminal, env: named ? env : [...env, `TERM=${terminalName}`] };
}
