import { isDeadlineExceeded, PodwrightError } from '@podwright/base';
import { type CriClient, withOutputLimit } from '@podwright/cri';
import type { CommandResult, CommandRunner } from '../kubecontainer/command-runner.ts';

/** Maximum size of a command's output. The rest is discarded, by the container runtime if it supports that. */
const MAX_COMMAND_OUTPUT_BYTES = 64 << 10;

/**
 * Runs commands in containers through ExecSync, which takes its timeout in whole seconds. As in upstream's kubelet, the CRI request timeout
 * is added on top, so that a probe does not fail because of a brief container runtime outage.
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
        { signal, ...withOutputLimit(MAX_COMMAND_OUTPUT_BYTES) },
      );
      const bounded = [stdout, stderr].map((bytes) => Buffer.from(bytes.subarray(0, MAX_COMMAND_OUTPUT_BYTES)));
      const output = Buffer.concat(bounded).subarray(0, MAX_COMMAND_OUTPUT_BYTES).toString('utf8');
      return { exitCode, output, stderr: bounded[1]!.toString('utf8') };
    } catch (error) {
      if (!isDeadlineExceeded(error)) throw error;
      const message = `run "${command.join(' ')}" in container ${containerId}: not done within ${seconds} s`;
      throw new PodwrightError('deadline_exceeded', message, { cause: error });
    }
  }
}
