/** Result of a command in a container. `output` is stdout followed by stderr; the runner truncates it. */
export type CommandResult = { exitCode: number; output: string; stderr: string };

/**
 * Runs a command in a running container through the CRI. Rejects with `deadline_exceeded` if the command takes longer than `timeoutMs`, and
 * with the runtime's error if the command cannot be started.
 */
export interface CommandRunner {
  runInContainer(
    containerId: string,
    command: string[],
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<CommandResult>;
}
