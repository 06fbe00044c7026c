import type { StreamChoice } from '../remote-process.ts';
import { hasStructuredStatus } from './protocols.ts';
import type { CommandStreams } from './session.ts';
import type { WebSocketChannels } from './websocket-channels.ts';
import { Channel } from './websocket-messages.ts';

/**
 * The streams of a remote command as channels of a WebSocket, which all exist at once. From v5 on the client can close
 * stdin alone. As Kubernetes' servers do, an empty message on the lowest output says that the connection stands.
 */
export function webSocketCommand(
  channels: WebSocketChannels,
  { choice, protocol }: { choice: StreamChoice; protocol: string },
): CommandStreams {
  const stderr = choice.stderr && !choice.tty;
  channels.send(choice.stdout ? Channel.stdout : stderr ? Channel.stderr : Channel.error, Buffer.alloc(0));
  return {
    stdin: choice.stdin ? channels.reader(Channel.stdin) : undefined,
    stdout: choice.stdout ? channels.writer(Channel.stdout) : undefined,
    stderr: stderr ? channels.writer(Channel.stderr) : undefined,
    resize: choice.tty ? channels.reader(Channel.resize) : undefined,
    error: channels.writer(Channel.error),
    structuredStatus: hasStructuredStatus(protocol),
    gone: channels.gone,
  };
}
