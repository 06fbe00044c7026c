import { Duplex } from 'node:stream';
import { forwardPort, type PortDialer } from './port-forward.ts';
import type { WebSocketChannels } from './websocket-channels.ts';

/**
 * Serves one connection to each of `ports` over channels. The data of the n-th port is on channel 2n, and its error message on channel
 * 2n+1; each channel starts with the port number in two bytes, little-endian. Resolves when all connections have ended.
 */
export async function forwardPortChannels(
  channels: WebSocketChannels,
  { dial, ports }: { dial: PortDialer; ports: number[] },
): Promise<void> {
  const forwarding = ports.map((port, index) => {
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    const data = Duplex.from({ readable: channels.reader(2 * index), writable: channels.writer(2 * index) });
    const error = Duplex.from({ writable: channels.writer(2 * index + 1) });
    data.on('error', () => undefined);
    error.on('error', () => undefined);
    channels.send(2 * index, number);
    channels.send(2 * index + 1, number);
    return forwardPort(dial, { data, error, port, signal: channels.gone });
  });
  await Promise.all(forwarding);
}
