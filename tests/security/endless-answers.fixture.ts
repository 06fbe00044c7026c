/** A server in a separate thread that responds to a client's first bytes with `head`, then sends `again` until the client disconnects. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** What the server sends, one byte per character. With a certificate, it is sent over TLS as HTTP/2. */
export type EndlessAnswer = { head: string; again: string; tls?: { key: Buffer; cert: Buffer } };

export async function startAnswering(answer: EndlessAnswer): Promise<{ port: number } & AsyncDisposable> {
  const worker = new Worker(new URL(import.meta.url), { workerData: answer });
  const [port] = (await once(worker, 'message')) as [number];
  return { port, [Symbol.asyncDispose]: async () => void (await worker.terminate()) };
}

if (!isMainThread) {
  const { head, again, tls } = workerData as EndlessAnswer;
  const more = Buffer.from(again, 'latin1');
  const talk = (socket: Socket) => {
    const speak = () => {
      while (socket.writable && socket.write(more));
    };
    socket.on('error', () => undefined).on('drain', () => setImmediate(speak));
    socket.once('data', () => {
      socket.write(head, 'latin1');
      speak();
    });
    socket.resume();
  };
  const server =
    tls === undefined
      ? createServer(talk)
      : createTlsServer({ key: Buffer.from(tls.key), cert: Buffer.from(tls.cert), ALPNProtocols: ['h2'] }, talk);
  server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port));
}
