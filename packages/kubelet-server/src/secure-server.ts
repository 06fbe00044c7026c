import { stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, type Logger, sleep } from '@podwright/base';
import type { CertificatePair } from '@podwright/certificates';
import type { KubeClient } from '@podwright/kube-client';
import type { Kubelet } from '@podwright/kubelet';
import type { ServerReviews } from '@podwright/kubelet-configuration';
import { WaitingClients } from '@podwright/streaming';
import type { Authorizer } from './access-reviews.ts';
import { admitting } from './admission.ts';
import { ANONYMOUS, authenticator, type TokenSource } from './authentication.ts';
import type { HttpListener } from './http/http-listener.ts';
import { MAX_CONNECTIONS } from './http/limits.ts';
import { HTTP_LIMITS, withListener } from './http-server.ts';
import { TLS_FILES_PERIOD_MS, TLS_REREAD_MS } from './limits.ts';
import { certificateDirectory, ownCertificateFiles, serverCertificate } from './server-certificate.ts';
import { type ConnectionEnds, type PeerUser, StrangerLimit } from './stranger-limit.ts';
import { tlsSettings } from './tls-settings.ts';
import { TokenFile, type User } from './token-file.ts';

export type SecureServerInput = {
  kubelet: Kubelet;
  /** The API server's client that asks what `authentication.reviews` is about. */
  reviewer?: KubeClient;
  /** The server's certificate, as long as there is one that its cluster has signed. */
  signedCertificate?: () => CertificatePair | undefined;
  /** Users of this host are one caller without it. */
  peerUser?: PeerUser;
  logger: Logger;
};

/**
 * An HTTPS server of the API for those who are known; the others keep none of them out. Its certificate, key, authorities and tokens may
 * change while it runs. TLS is loaded by who serves it. `allows` tells whether a connection may be accepted.
 */
export async function secureServer(
  api: HttpListener,
  { kubelet, reviewer, signedCertificate, peerUser, logger }: SecureServerInput,
): Promise<{ server: Server; allows: (ends: ConnectionEnds) => boolean }> {
  const { nodeName, rootDir, server: options } = kubelet.options;
  const always = [nodeName || hostname(), hostname(), 'localhost', '127.0.0.1', '::1', ...kubelet.addresses];
  const names = () => [...new Set([...always, ...kubelet.servingNames])];
  const owner = { nodeName, names, directory: certificateDirectory(rootDir) };
  let certificate: CertificatePair | undefined;
  const read = async () => {
    certificate = signedCertificate?.() ?? (await serverCertificate(options.tls, owner, certificate));
    return tlsSettings(options, certificate);
  };
  const own = ownCertificateFiles(options.tls, owner.directory);
  const { certFile = own.certificate, privateKeyFile = own.key } = options.tls;
  const files = [certFile, privateKeyFile, options.authentication.clientCaFile ?? []].flat();
  const state = async () => `${signedCertificate?.()?.certificate}\n${await statesOf(files)}`;
  const { clientCaFile, tokenFile, anonymous, reviews } = options.authentication;
  const tokens = tokenFile === undefined ? undefined : new TokenFile(tokenFile);
  await tokens?.check();
  const reviewed = await clusterReviews({ nodeName, reviewer, reviews, logger });
  const known = authenticator({
    anonymous,
    clientCertificates: clientCaFile !== undefined,
    tokens: [tokens ?? [], reviewed.tokens ?? []].flat(),
    logger,
  });
  const { createServer: createSecureServer } = await import('node:https');
  const waiting = new WaitingClients();
  const limit = new StrangerLimit({ peerUser });
  const onAllowed = (socket: Socket, user: User) => {
    waiting.admit(socket);
    if (user !== ANONYMOUS || reviewed.access === undefined) limit.know(socket);
  };
  const listener = admitting(api, { userOf: known, refusalOf: reviewed.access, onAllowed, logger });
  const settings = await read();
  const server = createSecureServer({
    ...HTTP_LIMITS,
    ...settings,
    shouldUpgradeCallback: (request) => api.upgrades(request),
  });
  server.on('tlsClientError', (error) => logger.debug({ error: errorMessage(error) }, 'a TLS handshake failed'));
  server.once('listening', () => void followFiles(server, { settings, state, read, waiting, logger }));
  server.on('connection', (socket: Socket) => waiting.add(socket));
  withListener(server, listener).maxConnections = MAX_CONNECTIONS * 2; // as many of those who are known as of others
  return { server, allows: (ends) => limit.allows(ends) };
}

/** What files are known again by as long as nobody has changed them. */
async function statesOf(paths: string[]): Promise<string> {
  const states = paths.map(async (path) => {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  });
  return (await Promise.all(states)).join('\n');
}

/** `state` tells whether anything may have changed, at a small part of what `read` costs; it rejects where that cannot be told. */
type Followed = {
  settings: TlsOptions;
  state: () => Promise<string>;
  read: () => Promise<TlsOptions>;
  waiting: WaitingClients;
  logger: Logger;
};

/** Takes what the files of a server hold for every connection from then on; while they are wrong, what they held before. */
async function followFiles(server: SecureServer, { settings, state, read, waiting, logger }: Followed): Promise<void> {
  const closed = new AbortController();
  server.once('close', () => closed.abort());
  const clients = connectedClients(server);
  let current = settings;
  let told = '';
  let last: { state: string | undefined; atMs: number } | undefined;
  while (
    await sleep(TLS_FILES_PERIOD_MS, closed.signal).then(
      () => true,
      () => false,
    )
  ) {
    const now = { state: await state().catch(() => undefined), atMs: performance.now() };
    if (now.state !== undefined && now.state === last?.state && now.atMs < last.atMs + TLS_REREAD_MS) continue;
    last = undefined;
    try {
      const next = await read();
      [last, told] = [now, ''];
      if (isDeepStrictEqual(next, current)) continue;
      server.setSecureContext(next);
      if (next.ca !== current.ca) distrust(server, { clients, waiting });
      current = next;
      logger.info({}, 'the certificate or the authorities of clients have changed');
    } catch (error) {
      const problem = errorMessage(error);
      if (problem !== told) logger.error({ error: problem }, 'TLS goes on with the files as they were before');
      told = problem;
    }
  }
}

function connectedClients(server: SecureServer): ReadonlySet<TLSSocket> {
  const clients = new Set<TLSSocket>();
  server.on('secureConnection', (socket) => {
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
  });
  return clients;
}

/** Clients have to show their certificates anew; what they have begun goes on, but handshakes, which are with the old authorities. */
function distrust(
  server: SecureServer,
  { clients, waiting }: { clients: ReadonlySet<TLSSocket>; waiting: WaitingClients },
): void {
  server.closeIdleConnections();
  waiting.close();
  for (const socket of clients) socket.authorized = false;
}

type ClusterReviews = { tokens?: TokenSource; access?: Authorizer };

/** Who the cluster knows, and what it allows. Loaded where there is a cluster. */
async function clusterReviews({
  nodeName,
  reviewer: client,
  reviews,
  logger,
}: {
  nodeName: string;
  reviewer: KubeClient | undefined;
  reviews: ServerReviews | undefined;
  logger: Logger;
}): Promise<ClusterReviews> {
  if (client === undefined || reviews === undefined) return {};
  const [{ TokenReviews }, { accessReviewer }] = await Promise.all([
    import('./token-reviews.ts'),
    import('./access-reviews.ts'),
  ]);
  return {
    tokens: reviews.tokens && new TokenReviews(client, reviews.tokens.keptMs),
    access: reviews.access && accessReviewer({ client, nodeName, ...reviews.access, logger }),
  };
}
