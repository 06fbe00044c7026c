import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { errorMessage, type Logger, wrapError } from '@podwright/base';
import type { KubeletConfiguration } from '../../configuration/fields/field-table.ts';
import {
  KEEP_ALIVE_PROBE_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  MAX_CONNECTIONS,
  MAX_REQUEST_HEAD_BYTES,
  REQUEST_HEAD_TIMEOUT_MS,
  STALLED_CLIENT_MS,
} from '../../limits.ts';
import { processMetrics } from '../../metrics/process-metrics.ts';
import type { HttpListener } from '../http-listener.ts';
import { sendText } from './api-route.ts';
import { type Authenticator, authenticator } from './authentication.ts';
import { effectiveConfiguration } from './effective-configuration.ts';
import { healthListener } from './health-routes.ts';
import { KubeletApi, type KubeletApiParts } from './kubelet-api.ts';
import { serverCertificate } from './server-certificate.ts';
import { tlsSettings } from './tls-settings.ts';
import { TokenFile } from './token-file.ts';

export type ServedKubeletApi = {
  /** The API for servers that know their clients by other means, such as a socket that is root's alone. */
  listener: HttpListener;
  /** Where it is served, `undefined` where it is not. */
  addresses: { api?: AddressInfo; readOnly?: AddressInfo; health?: AddressInfo };
  close: () => Promise<void>;
};

export type ServeKubeletApiInput = Pick<KubeletApiParts, 'kubelet' | 'registry' | 'logger'> & {
  /** What the kubelet's options were made of, upstream's defaults if left out; the options win where they say something else. */
  configuration?: KubeletConfiguration;
  /** Command-line flags with their values, without secrets. */
  flags?: Record<string, string>;
  /** The host's log directory; `/var/log` if left out. */
  systemLogDirectory?: string;
};

/**
 * Serves the kubelet's HTTP API on the ports that its options name, until it is closed. Throws if one of them cannot be had, or a
 * file of the options cannot be read.
 */
export async function serveKubeletApi(input: ServeKubeletApiInput): Promise<ServedKubeletApi> {
  const { logger } = input;
  const options = input.kubelet.options.server;
  const parts = apiParts(input);
  const api = new KubeletApi(parts, { readOnly: false });
  const servers: Server[] = [];
  const listen = async (server: Server, place: Place): Promise<AddressInfo> => {
    servers.push(server);
    return await listenOn(server, place, logger);
  };
  const close = async () => {
    api.close();
    await Promise.all(servers.map(closeServer));
  };
  const addresses: ServedKubeletApi['addresses'] = {};
  try {
    if (options.port > 0)
      addresses.api = await listen(await secureServer(api, input), { host: options.address, port: options.port });
    if (options.readOnlyPort > 0) {
      const readOnly = plainServer(new KubeletApi(parts, { readOnly: true }));
      addresses.readOnly = await listen(readOnly, { host: options.address, port: options.readOnlyPort });
    }
    if (options.healthzPort > 0) {
      const health = plainServer(healthListener(parts.kubelet));
      addresses.health = await listen(health, { host: options.healthzBindAddress, port: options.healthzPort });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { listener: api, addresses, close };
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
    streamIdleTimeoutMs: options.streamingConnectionIdleTimeoutMs,
  };
}

const LIMITS: ServerOptions = {
  maxHeaderSize: MAX_REQUEST_HEAD_BYTES,
  headersTimeout: REQUEST_HEAD_TIMEOUT_MS,
  requestTimeout: REQUEST_HEAD_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  connectionsCheckingInterval: 1000,
  noDelay: true,
  // or streams and followed logs of a host that has gone would stay for hours
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
};

/** TLS is loaded by who serves it. */
async function secureServer(api: HttpListener, { kubelet, logger }: ServeKubeletApiInput): Promise<Server> {
  const { nodeName, rootDir, server: options } = kubelet.options;
  const names = [
    ...new Set([nodeName || hostname(), hostname(), 'localhost', '127.0.0.1', '::1', ...kubelet.addresses]),
  ];
  const certificate = await serverCertificate(options.tls, { nodeName, names, directory: join(rootDir, 'pki') });
  const { clientCaFile, tokenFile, anonymous } = options.authentication;
  const tokens = tokenFile === undefined ? undefined : new TokenFile(tokenFile);
  await tokens?.check();
  const known = authenticator({ anonymous, clientCertificates: clientCaFile !== undefined, tokens, logger });
  const { createServer: createSecureServer } = await import('node:https');
  const listener = authenticated(api, known);
  const settings = { ...LIMITS, ...(await tlsSettings(options, certificate)) };
  const server = createSecureServer({ ...settings, shouldUpgradeCallback: (request) => api.upgrades(request) });
  server.on('tlsClientError', (error) => logger.debug({ error: errorMessage(error) }, 'a TLS handshake failed'));
  return withListener(server, listener);
}

function plainServer(listener: HttpListener): Server {
  const server = createServer({ ...LIMITS, shouldUpgradeCallback: (request) => listener.upgrades(request) });
  return withListener(server, listener);
}

function withListener(server: Server, listener: HttpListener): Server {
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(STALLED_CLIENT_MS);
  server.on('request', (request, response) => listener.handle(request, response));
  server.on('upgrade', (request, socket, head) => listener.upgrade(request, socket, head));
  return server;
}

/** The same for those who are known; the others are told nothing. */
function authenticated(api: HttpListener, userOf: Authenticator): HttpListener {
  return {
    upgrades: (request) => api.upgrades(request),
    handle: (request, response) => {
      void userOf(request).then((user) => (user ? api.handle(request, response) : refuse(response)));
    },
    upgrade: (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      void userOf(request).then((user) => (user ? api.upgrade(request, socket, head) : refuseUpgrade(request, socket)));
    },
  };
}

function refuse(response: ServerResponse): void {
  response.setHeader('connection', 'close');
  sendText(response, 401, 'Unauthorized');
}

function refuseUpgrade(_request: IncomingMessage, socket: Duplex): void {
  const head = 'HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n';
  socket.end(`${head}Content-Length: 12\r\n\r\nUnauthorized`);
}

type Place = { host: string; port: number };

async function listenOn(server: Server, { host, port }: Place, logger: Logger): Promise<AddressInfo> {
  try {
    server.listen(port, host);
    await once(server, 'listening'); // rejects with the server's error
  } catch (error) {
    throw wrapError(`serve the kubelet's API on ${host} port ${port}`, error);
  }
  server.on('error', (error) => logger.warn({ error: errorMessage(error) }, 'server of the API'));
  const address = server.address() as AddressInfo;
  logger.info({ address: address.address, port: address.port }, 'serving the API');
  return address;
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
