/**
 * Common code for test programs that register with a kubelet as plugins: the service on one socket, registration on another. The parent
 * process sends messages to control how each call behaves, and receives a message for each call.
 */
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { grpcServiceDefinition } from '@podwright/grpc';
import { Registration } from '@podwright/placement/plugin-registration-api';

/** How a call fails: `hang` hangs before doing its work, `hangAfter` after it. */
export type Misbehaviour = { hang?: boolean; hangAfter?: boolean; crash?: boolean; error?: number };
/** A `sync` is acknowledged after the messages for all earlier calls. */
export type PluginMessage = { behave?: Record<string, Misbehaviour>; sync?: number; [more: string]: unknown };
export type PluginReport = { call: string; request: unknown } | { listening: true } | { synced: number };

type Service = Parameters<typeof grpcServiceDefinition>[0];
type Calls = Record<string, (request: never) => object>;

export type PluginServices = {
  service: Service;
  /** Handlers for the service and for registration; calls without a handler return an empty message. */
  calls: Calls;
  socket: string;
  registrationSocket: string;
  /** A streaming service; each call sends the messages that `follow` passes to `send`. */
  streaming?: { service: Service; follow: (send: (message: object) => void) => void };
};

let behaviour: Record<string, Misbehaviour> = {};
process.on('message', ({ behave, sync }: PluginMessage) => {
  behaviour = behave ?? behaviour;
  if (sync !== undefined) send({ synced: sync });
});
process.on('disconnect', () => process.exit());
const send = (report: PluginReport) => process.send?.(report);

const asJson = (request: object) =>
  JSON.parse(JSON.stringify(request, (_, value) => (typeof value === 'bigint' ? String(value) : value)));

function answer(call: string, work: (request: never) => object) {
  return ({ request }: ServerUnaryCall<object, object>, reply: sendUnaryData<object>) => {
    const { hang, hangAfter, crash, error } = behaviour[call] ?? {};
    send({ call, request: asJson(request) });
    if (crash) process.exit(1);
    if (hang) return;
    if (error !== undefined) return reply({ code: error, details: `configured to fail ${call}` });
    try {
      const response = work(request as never);
      if (!hangAfter) reply(null, response);
    } catch (failure) {
      reply({ code: 13, details: String(failure) });
    }
  };
}

async function listen(server: Server, path: string): Promise<void> {
  const unseen = join(dirname(path), `.${process.pid}`);
  await new Promise<void>((resolve, reject) => {
    const listening = (error: Error | null) => (error === null ? resolve() : reject(error));
    server.bindAsync(`unix:${unseen}`, ServerCredentials.createInsecure(), listening);
  });
  renameSync(unseen, path); // replaces the socket of a killed plugin
}

function serverOf(service: Service, calls: Calls): Server {
  const server = new Server();
  const definition = grpcServiceDefinition(service);
  const handlers = Object.keys(definition).map((call) => [call, answer(call, calls[call] ?? (() => ({})))]);
  server.addService(definition, Object.fromEntries(handlers));
  return server;
}

/** Serves the plugin until the parent process exits. */
export async function servePlugin(options: PluginServices): Promise<void> {
  const { service, calls, socket, registrationSocket, streaming } = options;
  const server = serverOf(service, calls);
  if (streaming !== undefined) {
    const definition = grpcServiceDefinition(streaming.service);
    const follow = (stream: ServerWritableStream<object, object>) =>
      streaming.follow((message) => void stream.write(message));
    server.addService(definition, Object.fromEntries(Object.keys(definition).map((call) => [call, follow])));
  }
  await listen(server, socket);
  await listen(serverOf(Registration, calls), registrationSocket);
  send({ listening: true });
}
