/** A fake resolver on a loopback address. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { MessageWriter } from '../wire/message-writer.ts';
import { FLAG } from '../wire/numbers.ts';
import { type Query, readQuery } from '../wire/read-query.ts';
import type { ResourceRecord } from '../wire/record.ts';
import { FrameReader, framed } from '../wire/tcp-frames.ts';

export type FakeReply = {
  rcode?: number;
  flags?: number;
  id?: number;
  name?: string;
  answers?: ResourceRecord[];
  authorities?: ResourceRecord[];
};

/** A received query. `port` is the client's. */
export type Asked = { query: Query; isTcp: boolean; port: number };

type Answer = FakeReply | FakeReply[] | Buffer | undefined;

/** Decides how the fake resolver responds to a query: not at all, with one or more replies, or with raw bytes, possibly later. */
export type Behaviour = (asked: Asked) => Answer | Promise<Answer>;

export function replyBytes(query: Query, reply: FakeReply): Buffer {
  const writer = new MessageWriter();
  const { rcode = 0, flags = 0, id = query.id, name = query.question.name, answers = [], authorities = [] } = reply;
  writer.begin(id, FLAG.response | FLAG.recursionAvailable | FLAG.recursionDesired | flags | rcode);
  writer.question({ ...query.question, name });
  for (const record of answers) writer.record('answer', record);
  for (const record of authorities) writer.record('authority', record);
  return writer.bytes();
}

const MAX_ATTEMPTS = 10;

export class FakeResolver implements AsyncDisposable {
  readonly asked: Asked[] = [];
  behaviour: Behaviour;
  readonly #udp: Socket;
  readonly #tcp: Server;

  /** Starts a fake resolver. Port 0 selects a port that is free for both UDP and TCP. */
  static async start(behaviour: Behaviour, { address = '127.0.0.1', port = 0 } = {}): Promise<FakeResolver> {
    for (let attempt = 1; ; attempt++) {
      const resolver = new FakeResolver(behaviour);
      try {
        resolver.#udp.bind(port, address);
        await once(resolver.#udp, 'listening');
        resolver.#tcp.listen(resolver.port, address);
        await once(resolver.#tcp, 'listening');
        return resolver;
      } catch (error) {
        resolver.#udp.close();
        if (port !== 0 || attempt === MAX_ATTEMPTS) throw error; // the port of UDP may be taken for TCP
      }
    }
  }

  private constructor(behaviour: Behaviour) {
    this.behaviour = behaviour;
    this.#udp = createSocket('udp4', (request, from) => {
      const send = (reply: Buffer) => this.#udp.send(reply, from.port, from.address);
      void this.#answer(request, { isTcp: false, port: from.port }, send);
    });
    this.#tcp = createServer((socket) => {
      const send = (reply: Buffer) => socket.write(framed(reply));
      const onMessage = (request: Buffer) =>
        void this.#answer(request, { isTcp: true, port: socket.remotePort ?? 0 }, send);
      const frames = new FrameReader({ maxBytes: 65_535, onMessage });
      socket.on('data', (chunk: Buffer) => frames.add(chunk));
      socket.on('error', () => socket.destroy());
    });
  }

  get port(): number {
    return this.#udp.address().port;
  }

  /** The names that were queried, in order, apart from loop probes. */
  get names(): string[] {
    return this.asked.map(({ query }) => query.question.name).filter((name) => !name.endsWith('loop-probe'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#udp.close();
    this.#tcp.close();
  }

  async #answer(request: Buffer, from: Omit<Asked, 'query'>, send: (reply: Buffer) => void): Promise<void> {
    const query = readQuery(request);
    if (query?.question === undefined) return;
    this.asked.push({ query, ...from });
    for (const reply of [await this.behaviour({ query, ...from })].flat())
      if (reply !== undefined) send(Buffer.isBuffer(reply) ? reply : replyBytes(query, reply));
  }
}
