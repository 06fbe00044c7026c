import type { RemoteProcess, StreamChoice } from '@podwright/streaming';
import type { Engine } from '../engine/engine.ts';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { engineStreams } from './engine-streams.ts';
import { remoteStreams, resizer } from './remote-streams.ts';

/** Attaches a client to a container's main process, which keeps running after the client disconnects. */
export async function attachSession(
  { exec, containers }: Pick<Engine, 'exec' | 'containers'>,
  { Id: id, Config: { Tty: tty = false, OpenStdin, StdinOnce = false } }: ContainerInspection,
  asked: StreamChoice,
): Promise<RemoteProcess> {
  const stdin = asked.stdin && OpenStdin === true;
  const connection = await exec.attach(id, { stdin, stdout: true, stderr: true });
  const streams = engineStreams(connection, { tty, endsInput: StdinOnce });
  const exit = streams.over.then(async (broken) => {
    if (broken !== undefined) throw broken;
    await containers.inspect(id); // fails if the streams ended because the Engine stopped
    return 0;
  });
  exit.catch(() => undefined); // after the session is closed, no caller awaits this promise
  return {
    ...remoteStreams(streams, { ...asked, stdin }),
    exit,
    resize: resizer((size) => containers.resize(id, size)),
    close: streams.close,
  };
}
