/** Result of a command run in a container. `output`: stdout followed by stderr, truncated by the runner. */
export type CommandResult = { exitCode: number; output: string; stderr: string };

/**
 * Runs a command in a running container through the CRI. Rejects with `deadline_exceeded` if the command takes longer than `timeoutMs`, and
 * with the container runtime's error if it cannot be started.
 */
export interface CommandRunner {
  runInContainer(
    containerId: string,
    command: string[],
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<CommandResult>;
}
