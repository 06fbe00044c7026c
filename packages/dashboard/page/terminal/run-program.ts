/** Runs programs in containers, using the `exec` subresource. */
import { builtIn, pathOf } from '../api/resources.ts';
import { keyProtocol, socketUrl } from '../api/session-key.ts';
import { EXEC_PROTOCOL, execMessage } from './exec-frames.ts';

const MAX_OUTPUT_CHARACTERS = 256 << 10;

export type ExecTarget = { namespace: string; name: string; container: string };

/** Starts a program in a container and returns a WebSocket for its input and output. */
export function execSocket(
  { namespace, name, container }: ExecTarget,
  command: readonly string[],
  isTerminal: boolean,
): WebSocket {
  const query = new URLSearchParams([
    ...command.map((part) => ['command', part]),
    ['container', container],
    ['stdout', 'true'],
    ...(isTerminal
      ? [
          ['stdin', 'true'],
          ['tty', 'true'],
        ]
      : [['stderr', 'true']]),
  ]);
  const path = pathOf(builtIn('Pod'), { namespace, name, subresource: 'exec' });
  const socket = new WebSocket(socketUrl(`${path}?${query}`), [EXEC_PROTOCOL, keyProtocol()]);
  socket.binaryType = 'arraybuffer';
  return socket;
}

/** Runs a program without input. Resolves to its output. Rejects if it fails or cannot be started, or if the connection is lost. */
export function runProgram(target: ExecTarget, command: readonly string[], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = execSocket(target, command, false);
    const decoder = new TextDecoder();
    let output = '';
    signal.addEventListener('abort', () => socket.close(), { once: true });
    socket.addEventListener('message', ({ data }) => {
      const message = execMessage(new Uint8Array(data as ArrayBuffer));
      if (message?.kind === 'output' && output.length < MAX_OUTPUT_CHARACTERS)
        output += decoder.decode(message.data, { stream: true });
      if (message?.kind !== 'end') return;
      if (message.message === undefined) resolve(output);
      else reject(new Error(`${message.message}${output === '' ? '' : `: ${output.trim()}`}`));
      socket.close();
    });
    socket.addEventListener('close', () => reject(new Error('the connection was lost')));
  });
}
