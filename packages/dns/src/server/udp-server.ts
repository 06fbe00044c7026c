import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { errorMessage, type Logger, wrapError } from '@podwright/base';
import type { Endpoint } from '../forward/resolvers.ts';
import { MAX_DATAGRAMS, MAX_DATAGRAMS_PER_CLIENT, MAX_QUERY_BYTES, RECEIVE_BUFFER_BYTES } from './limits.ts';
import type { Responder } from './responder.ts';
import type { Turns } from './turns.ts';

type UdpOptions = { responder: Pick<Responder, 'reply'>; turns: Turns; logger: Logger };

/** Serves queries over UDP. Throws `failed_precondition` if the endpoint cannot be used. */
export async function serveUdp({ address, port }: Endpoint, { responder, turns, logger }: UdpOptions): Promise<Socket> {
  const type = isIPv6(address) ? 'udp6' : 'udp4';
  // all destinations are IP addresses: skip the default lookup, which would defer each reply
  const lookup: SocketOptions['lookup'] = (address, _options, done) => done(null, address, type === 'udp6' ? 6 : 4);
  const socket = createSocket({ type, ipv6Only: type === 'udp6', recvBufferSize: RECEIVE_BUFFER_BYTES, lookup });
  const bound = once(socket, 'listening');
  socket.bind({ address, port, exclusive: true });
  try {
    await bound;
  } catch (error) {
    socket.close();
    throw wrapError(`listen on UDP port ${port} of ${address} for DNS`, error, 'failed_precondition');
  }
  socket.on('error', (error) => logger.warn({ error: errorMessage(error) }, 'a UDP socket for DNS failed'));
  let isClosed = false;
  socket.on('close', () => {
    isClosed = true;
  });
  socket.on('message', (request, from) => {
    if (request.length > MAX_QUERY_BYTES || from.port === 0) return;
    if (turns.waiting >= MAX_DATAGRAMS || turns.waitingOf(from.address) >= MAX_DATAGRAMS_PER_CLIENT) return;
    turns.add(from.address, () => isClosed || answerDatagram({ socket, responder, from }, request));
  });
  return socket;
}

type Datagrams = { socket: Socket; responder: UdpOptions['responder']; from: RemoteInfo };

function answerDatagram({ socket, responder, from }: Datagrams, request: Buffer): void {
  const send = (reply: Buffer) => {
    try {
      // a reply that cannot be sent is like a lost packet: the client retries
      socket.send(reply, from.port, from.address, () => undefined);
    } catch {} // the socket was closed in the meantime
  };
  const reply = responder.reply(request, { address: from.address, isTcp: false });
  if (reply instanceof Promise) void reply.then(send);
  else if (reply !== undefined) send(reply);
}
