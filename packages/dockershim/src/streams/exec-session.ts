import { PodwrightError, wrapError } from '@podwright/base';
import { type RemoteProcess, type StreamChoice, standInFor } from '@podwright/streaming';
import type { Engine } from '../engine/engine.ts';
import { type EngineStreams, engineStreams } from './engine-streams.ts';
import { ExecProcess } from './exec-process.ts';
import { remoteStreams, resizer } from './remote-streams.ts';
import { unstartedCommand } from './unstarted-command.ts';

/** A command to run in a container. `terminalName` is the client's TERM. */
export type ExecCommand = { containerId: string; command: string[]; choice: StreamChoice; terminalName?: string };

/** A command that has been started, and its streams. */
export type StartedExec = { process: ExecProcess; streams: EngineStreams; execId: string };

/** Starts a command. Its output stays paused until it is read. */
export async function startExec(
  { exec }: Pick<Engine, 'exec'>,
  { containerId, command, choice, terminalName }: ExecCommand,
  signal: AbortSignal,
): Promise<StartedExec> {
  const { tty } = choice;
  const spec = {
    ...{ AttachStdin: choice.stdin, AttachStdout: true, AttachStderr: !tty, Tty: tty, Cmd: command },
    ...(terminalName !== undefined && { Env: [`TERM=${terminalName}`] }),
  };
  const execId = await exec.create(containerId, spec, signal);
  // not cancelable: after a canceled start, it would be unknown whether the command is running
  const connection = await exec.start(execId, tty);
  const streams = engineStreams(connection, { tty, endsInput: true });
  return { process: new ExecProcess(exec, { containerId, execId }), streams, execId };
}

/** Runs a command for a client. Kills the command if the client disconnects. */
export async function execSession(
  engine: Pick<Engine, 'exec'>,
  command: ExecCommand,
  signal: AbortSignal,
): Promise<RemoteProcess> {
  const started = await startExec(engine, command, signal);
  const { process, streams, execId } = started;
  try {
    if (!(await process.started()))
      return standInFor({ ...(await unstartedCommand(streams)), tty: command.choice.tty });
  } catch (error) {
    await abandon(started);
    throw error;
  }
  const ended = new AbortController();
  let hasEnded = false;
  const exit = exitCodeOf(started, ended.signal);
  exit.then(
    () => {
      hasEnded = true;
    },
    () => undefined, // it is unknown whether the command has exited
  );
  return {
    ...remoteStreams(streams, command.choice),
    exit,
    resize: resizer((size) => engine.exec.resize(execId, size)),
    close: () => {
      ended.abort();
      if (hasEnded) streams.close();
      else void abandon(started);
    },
  };
}

/** Kills a command and closes its streams. */
export async function abandon({ process, streams }: StartedExec): Promise<void> {
  await process.kill();
  streams.close();
}

/** Waits for the output to end and then for the command to exit. */
async function exitCodeOf({ process, streams }: StartedExec, signal: AbortSignal): Promise<number> {
  const broken = await streams.over;
  try {
    if (broken !== undefined) throw new PodwrightError('unavailable', broken.message, { cause: broken });
    return (await process.ended(signal)).exitCode;
  } catch (error) {
    throw wrapError(
      'how the command ended is unknown: the connection to the Docker Engine was lost',
      error,
      'unavailable',
    );
  }
}
