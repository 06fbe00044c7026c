import { isDeadlineExceeded, PodwrightError } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { CommandResult, CommandRunner } from '../kubecontainer/command-runner.ts';

/** Output of a command that is kept. */
const maxOutputBytes = 64 << 10;
/** How much longer than the command the call may take before the runtime counts as stuck. */
const marginMs = 10_000;

/** Runs commands in containers through ExecSync, whose timeouts are whole seconds. */
export class CriCommandRunner implements CommandRunner {
  readonly #cri: CriClient;

  constructor(cri: CriClient) {
    this.#cri = cri;
  }

  async runInContainer(
    containerId: string,
    command: string[],
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  ): Promise<CommandResult> {
    const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
    try {
      const { exitCode, stdout, stderr } = await this.#cri.runtime.execSync(
        { containerId, cmd: command, timeout: BigInt(seconds) },
        { signal, timeoutMs: seconds * 1000 + marginMs },
      );
      const kept = Buffer.concat([stdout, stderr].map((bytes) => bytes.subarray(0, maxOutputBytes)));
      const output = kept.subarray(0, maxOutputBytes).toString('utf8');
      return { exitCode, output };
    } catch (error) {
      if (!isDeadlineExceeded(error)) throw error;
      const message = `run "${command.join(' ')}" in container ${containerId}: not done within ${seconds} s`;
      throw new PodwrightError('deadline_exceeded', message, { cause: error });
    }
  }
}
