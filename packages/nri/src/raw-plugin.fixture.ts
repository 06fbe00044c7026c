/** A plugin that sends ttrpc frames directly, so that tests can send frames that `runPlugin` would not send. */
import { connect, type Socket } from 'node:net';
import { Duplex, Transform } from 'node:stream';
import { silentLogger } from '@podwright/base';
import { type TtrpcClient, TtrpcConnection, TtrpcServer } from '@podwright/ttrpc';
import type { AdaptationUnderTest } from './adaptation.fixture.ts';
import { Plugin, Runtime } from './gen/nri/v1alpha1/services_pb.js';
import { Multiplexer, PLUGIN_SERVICE, RUNTIME_SERVICE } from './multiplexer.ts';

export type RawPluginOptions = {
  /** Name including the index, such as `50-a`. */
  name: string;
  /** The RPCs implemented by the plugin, by name. */
  handlers: Record<string, unknown>;
  /** The RPCs of the plugin's service, for overriding their message types. Default: NRI's. */
  methods?: typeof Plugin.methods;
  /** Returns a replacement for a ttrpc frame that contains a response. */
  change?: (frame: Buffer) => Buffer;
};

export type RawPlugin = {
  socket: Socket;
  runtime: TtrpcClient<typeof Runtime>;
  /** Resolves when either side closes the connection. */
  closed: Promise<void>;
};

/** The RPCs that every plugin implements. */
export const basics = { configure: async () => ({}), synchronize: async () => ({}) };

export async function registerRaw(
  { socket: path }: AdaptationUnderTest,
  { name, handlers, methods = Plugin.methods, change }: RawPluginOptions,
): Promise<RawPlugin> {
  const socket = connect(path);
  const multiplexer = new Multiplexer(socket);
  const server = new TtrpcServer({ logger: silentLogger });
  const own = methods.filter(({ localName }) => localName in handlers);
  server.add({ ...Plugin, methods: own } as typeof Plugin, handlers as never);
  const stream = multiplexer.open(PLUGIN_SERVICE);
  server.serve(change === undefined ? stream : changed(stream, change));
  const connection = new TtrpcConnection(multiplexer.open(RUNTIME_SERVICE));
  const runtime = connection.client(Runtime);
  await runtime.registerPlugin({ pluginName: name.slice(3), pluginIdx: name.slice(0, 2) });
  return { socket, runtime, closed: connection.closed };
}

/** Connects a plugin, registers it, and waits until it is ready to receive events. */
export async function rawPlugin(host: AdaptationUnderTest, options: RawPluginOptions): Promise<RawPlugin> {
  const plugin = await registerRaw(host, options);
  await host.until(() => host.adaptation.plugins.includes(options.name));
  return plugin;
}

/** Returns a stream that passes each write, which is one frame, through `change`. */
function changed(stream: Duplex, change: (frame: Buffer) => Buffer): Duplex {
  const sent = new Transform({ transform: (frame: Buffer, _encoding, done) => done(null, change(frame)) });
  sent.pipe(stream);
  stream.on('close', () => sent.destroy());
  const both = Duplex.from({ readable: stream, writable: sent });
  both.on('error', () => undefined); // the stream is closed
  return both;
}
