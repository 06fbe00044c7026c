import type { StreamChoice } from '../remote-process.ts';
import { hasStructuredStatus } from './protocols.ts';
import type { CommandStreams } from './session.ts';
import type { WebSocketChannels } from './websocket-channels.ts';
import { Channel } from './websocket-messages.ts';

/**
 * Represents a remote command's streams as WebSocket channels, which all exist from the start. Since v5, the client can close stdin on its
 * own. Like Kubernetes' servers, sends an empty message on the lowest output channel to show that the connection is open.
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
