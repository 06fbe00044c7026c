import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { processMetrics } from '@podwright/base';
import type { KubeletConfiguration } from '@podwright/kubelet-configuration';
import { effectiveConfiguration } from './effective-configuration.ts';
import { healthListener, kubeletChecks } from './health-routes.ts';
import type { HttpListener, ServeStream } from './http/http-listener.ts';
import { closeServer, type ListenAddress, listenOn, plainServer } from './http-server.ts';
import { KubeletApi, type KubeletApiParts } from './kubelet-api.ts';
import { type SecureServerInput, secureServer } from './secure-server.ts';
import type { ConnectionEnds } from './stranger-limit.ts';

export type ServedKubeletApi = {
  /** The API without authentication, for servers that restrict access in another way, such as through a socket with mode 0600. */
  listener: HttpListener;
  /** Serves the API on a connection within this process, without authentication. */
  serveConnection: (connection: Duplex) => void;
  /** The servers' addresses; `undefined` for a server that is disabled. */
  addresses: { api?: AddressInfo; readOnly?: AddressInfo; health?: AddressInfo };
  close: () => Promise<void>;
};

export type ServeKubeletApiInput = Pick<KubeletApiParts, 'registry'> &
  Partial<Pick<KubeletApiParts, 'countBuffer'>> &
  SecureServerInput & {
    /**
     * The configuration that the options were derived from. Default: upstream's defaults. `/configz` shows it, updated with the values in
     * the options.
     */
    configuration?: KubeletConfiguration;
    /** Command-line flags and their values, without secrets. `/flagz` shows them. */
    flags?: Record<string, string>;
    /** The host's log directory. Default: `/var/log`. */
    systemLogDirectory?: string;
    serveStream?: ServeStream;
    /**
     * Called for each HTTP server once it listens on its port. `allows`, set if the server's connections are limited, decides whether to
     * accept a connection.
     */
    onListening?: (server: Server, allows?: (ends: ConnectionEnds) => boolean) => void;
  };

type ListeningServer = {
  server: Server;
  allows?: (ends: ConnectionEnds) => boolean;
  onClosed?: () => Promise<void>;
};

/**
 * Serves the kubelet's HTTP API on the configured ports until it is closed. Throws if it cannot listen on a port or cannot read one of the
 * configured files.
 */
export async function serveKubeletApi(input: ServeKubeletApiInput): Promise<ServedKubeletApi> {
  const { logger } = input;
  const options = input.kubelet.options.server;
  const parts = apiParts(input);
  const api = new KubeletApi(parts, { readOnly: false });
  const servers: ListeningServer[] = [];
  const listen = async (at: ListenAddress, listening: ListeningServer): Promise<AddressInfo> => {
    const { server, allows } = listening;
    servers.push(listening);
    const address = await listenOn(server, at, logger);
    input.onListening?.(server, allows);
    return address;
  };
  const close = async () => {
    api.close();
    const closing = servers.map(async ({ server, onClosed }) => {
      await closeServer(server);
      await onClosed?.();
    });
    await Promise.all(closing);
  };
  const addresses: ServedKubeletApi['addresses'] = {};
  try {
    if (options.port > 0)
      addresses.api = await listen({ host: options.address, port: options.port }, await secureServer(api, input));
    if (options.readOnlyPort > 0) {
      const server = plainServer(new KubeletApi(parts, { readOnly: true }));
      addresses.readOnly = await listen({ host: options.address, port: options.readOnlyPort }, { server });
    }
    if (options.healthzPort > 0) {
      const server = plainServer(healthListener(kubeletChecks(parts.kubelet)));
      addresses.health = await listen({ host: options.healthzBindAddress, port: options.healthzPort }, { server });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { listener: api, serveConnection: connectionServer(api), addresses, close };
}

/** Creates the API's HTTP server lazily, for the first connection within the process. It does not listen on a port. */
function connectionServer(api: HttpListener): ServedKubeletApi['serveConnection'] {
  let server: Server | undefined;
  return (connection) => {
    server ??= plainServer(api);
    server.emit('connection', connection);
  };
}

function apiParts(input: ServeKubeletApiInput): KubeletApiParts {
  const { kubelet, registry, logger, systemLogDirectory } = input;
  const { server: options, podLogsDir } = kubelet.options;
  processMetrics(registry);
  const facts = {
    configuration: effectiveConfiguration(kubelet.options, input.configuration),
    flags: input.flags ?? {},
    startedAtMs: performance.timeOrigin,
  };
  return {
    ...{ kubelet, registry, facts, logger },
    systemLogs: {
      enabled: options.enableSystemLogHandler,
      directory: systemLogDirectory ?? '/var/log',
      linked: [podLogsDir],
    },
    debuggingHandlers: options.enableDebuggingHandlers,
    profiling: options.enableProfilingHandler,
    streamIdleTimeoutMs: options.streamingConnectionIdleTimeoutMs,
    serveStream: input.serveStream,
    countBuffer: input.countBuffer,
  };
}
