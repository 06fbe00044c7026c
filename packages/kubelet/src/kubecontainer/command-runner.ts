/** How a command in a container ended; `output` is stdout and then stderr, both bounded by the runner. */
export type CommandResult = { exitCode: number; output: string; stderr: string };

/**
 * Runs a command inside a running container through the CRI. Rejects with `deadline_exceeded` when the command
 * outlives `timeoutMs`, and with the runtime's error when it cannot be started.
 */
export interface CommandRunner {
  runInContainer(
    containerId: string,
    command: string[],
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<CommandResult>;
}
