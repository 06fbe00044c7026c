import { stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { background, errorMessage, type Logger, limitClientChains, sleep } from '@podwright/base';
import type { CertificatePair } from '@podwright/certificates';
import type { KubeClient } from '@podwright/kube-client';
import type { Kubelet } from '@podwright/kubelet';
import type { ServerReviews } from '@podwright/kubelet-configuration';
import { CallerConnections, WaitingClients } from '@podwright/streaming';
import type { Authorizer } from './access-reviews.ts';
import { withAdmission } from './admission.ts';
import { refusal } from './api-route.ts';
import { ANONYMOUS, authenticator, type TokenSource } from './authentication.ts';
import type { HttpListener } from './http/http-listener.ts';
import { MAX_CONNECTIONS } from './http/limits.ts';
import { HTTP_LIMITS, withListener } from './http-server.ts';
import { KnownCallers } from './known-callers.ts';
import { MAX_CALLER_CONNECTIONS, TLS_FILES_PERIOD_MS, TLS_REREAD_MS } from './limits.ts';
import { certificateDirectory, ownCertificateFiles, serverCertificate } from './server-certificate.ts';
import { type ConnectionEnds, type PeerUser, StrangerLimit } from './stranger-limit.ts';
import { tlsSettings } from './tls-settings.ts';
import { TokenFile, type User } from './token-file.ts';

export type SecureServerInput = {
  kubelet: Kubelet;
  /** API client for TokenReviews and SubjectAccessReviews. Used only if `authentication.reviews` enables them. */
  reviewer?: KubeClient;
  /** Returns the serving certificate signed by the cluster, or `undefined` if none has been issued yet. */
  signedCertificate?: () => CertificatePair | undefined;
  /** Finds the local user at the other end of a connection. If `undefined`, all users on this host count as a single caller. */
  peerUser?: PeerUser;
  logger: Logger;
};

/**
 * Creates the API's HTTPS server. It authenticates clients, and does not let unauthenticated clients use up its connections. It reloads its
 * certificate, key, client CAs and tokens when they change. `allows` decides whether to accept a connection. `onClosed` must be called once
 * the server has been closed. `node:https` is imported lazily, and only here.
 */
export async function secureServer(
  api: HttpListener,
  { kubelet, reviewer, signedCertificate, peerUser, logger }: SecureServerInput,
): Promise<{ server: Server; allows: (ends: ConnectionEnds) => boolean; onClosed: () => Promise<void> }> {
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
  const path = peerUser && join(owner.directory, 'known-callers.json'); // without `peerUser`, connections are not limited
  const callers = new KnownCallers({ path, logger });
  await callers.load();
  const limit = new StrangerLimit({ peerUser, callers });
  const connections = new CallerConnections({ total: MAX_CONNECTIONS, perCaller: MAX_CALLER_CONNECTIONS });
  const onAllowed = (socket: Socket, user: User) => {
    if (!connections.admit(socket, user.name)) return refusal(429, 'too many connections of this user are in use');
    waiting.admit(socket);
    if (user !== ANONYMOUS || reviewed.access === undefined) limit.markAuthenticated(socket);
    return undefined;
  };
  const admission = { userOf: known, refusalOf: reviewed.access, onAllowed, logger };
  const listener = observed(withAdmission(api, admission), connections);
  const settings = await read();
  const server = createSecureServer({
    ...HTTP_LIMITS,
    ...settings,
    shouldUpgradeCallback: (request) => api.upgrades(request),
  });
  limitClientChains(server);
  server.on('tlsClientError', (error) => logger.debug({ error: errorMessage(error) }, 'a TLS handshake failed'));
  server.once('listening', () => {
    const following = followFiles(server, { settings, state, read, waiting, logger });
    background(logger, 'the certificate files are no longer read', following);
  });
  server.on('connection', (socket: Socket) => waiting.add(socket));
  // one third of the connections is for authenticated clients and one third for unauthenticated ones; the last third is headroom, so that
  // other callers get their shares even while a single caller uses up its third
  withListener(server, listener).maxConnections = MAX_CONNECTIONS * 3;
  return { server, allows: (ends) => limit.allows(ends), onClosed: () => callers.close() };
}

/** Wraps `listener` to track which connections are in use, that is, have an unfinished response or have been upgraded. */
function observed(listener: HttpListener, connections: CallerConnections): HttpListener {
  return {
    upgrades: (request) => listener.upgrades(request),
    handle: (request, response) => {
      response.once('close', connections.use(request.socket));
      listener.handle(request, response);
    },
    upgrade: (request, socket, head) => {
      request.socket.once('close', connections.use(request.socket));
      listener.upgrade(request, socket, head);
    },
  };
}

/** Returns the files' identities, sizes and times as text, which changes whenever a process changes any of the files. */
async function statesOf(paths: string[]): Promise<string> {
  const states = paths.map(async (path) => {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  });
  return (await Promise.all(states)).join('\n');
}

/**
 * How to reload a server's TLS files. `state` returns a cheap fingerprint that changes whenever the result of `read` might have changed; it
 * rejects if a file cannot be examined.
 */
type Followed = {
  settings: TlsOptions;
  state: () => Promise<string>;
  read: () => Promise<TlsOptions>;
  waiting: WaitingClients;
  logger: Logger;
};

/** Reloads a server's TLS files for new connections. While a file is invalid, the previous settings remain in use. */
async function followFiles(server: SecureServer, { settings, state, read, waiting, logger }: Followed): Promise<void> {
  const closed = new AbortController();
  server.once('close', () => closed.abort());
  const clients = connectedClients(server);
  let current = settings;
  let reported = '';
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
      [last, reported] = [now, ''];
      if (isDeepStrictEqual(next, current)) continue;
      server.setSecureContext(next);
      limitClientChains(server);
      if (next.ca !== current.ca) distrust(server, { clients, waiting });
      current = next;
      logger.info({}, 'reloaded the server certificate or the client CAs');
    } catch (error) {
      const problem = errorMessage(error);
      if (problem !== reported)
        logger.error({ error: problem }, 'failed to reload the TLS files; the server keeps the previous ones');
      reported = problem;
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

/**
 * Applies a change of the client CAs to open connections: clients must authenticate again, requests in progress may finish, and pending
 * handshakes are dropped.
 */
function distrust(
  server: SecureServer,
  { clients, waiting }: { clients: ReadonlySet<TLSSocket>; waiting: WaitingClients },
): void {
  server.closeIdleConnections();
  waiting.close();
  for (const socket of clients) socket.authorized = false;
}

type ClusterReviews = { tokens?: TokenSource; access?: Authorizer };

/**
 * Returns the bearer-token authenticator and the authorizer, both backed by the cluster's API server. Their code is loaded only if the node
 * belongs to a cluster.
 */
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
