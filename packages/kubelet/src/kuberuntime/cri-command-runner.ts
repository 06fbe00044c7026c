import { isDeadlineExceeded, PodwrightError } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { CommandResult, CommandRunner } from '../kubecontainer/command-runner.ts';

/** Output of a command that is kept. */
const MAX_COMMAND_OUTPUT_BYTES = 64 << 10;

/**
 * Runs commands in containers through ExecSync, whose timeouts are whole seconds. A runtime that does not answer holds a command up for
 * its request timeout on top, as in upstream's kubelet: no container fails its probe because the runtime was away for a moment.
 */
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
        { signal },
      );
      const kept = [stdout, stderr].map((bytes) => Buffer.from(bytes.subarray(0, MAX_COMMAND_OUTPUT_BYTES)));
      const output = Buffer.concat(kept).subarray(0, MAX_COMMAND_OUTPUT_BYTES).toString('utf8');
      return { exitCode, output, stderr: kept[1]!.toString('utf8') };
    } catch (error) {
      if (!isDeadlineExceeded(error)) throw error;
      const message = `run "${command.join(' ')}" in container ${containerId}: not done within ${seconds} s`;
      throw new PodwrightError('deadline_exceeded', message, { cause: error });
    }
  }
}
