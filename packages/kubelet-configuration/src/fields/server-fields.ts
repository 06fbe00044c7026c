import * as z from 'zod';
import {
  atLeast,
  cipherSuiteProblems,
  each,
  hiddenVersionProblems,
  optionalPortProblems,
  portProblems,
} from './checks.ts';
import { composes, field, inCluster, noted, nothing, only, onlyEmpty, sets, setsNoOption } from './field.ts';
import { bool, choice, duration, int32, intList, ipAddress, path, string, stringList } from './field-types.ts';
import { kubeletKey, tomlPath } from './toml-key.ts';

const NO_LOCKS = 'Node.js has no lock contention to profile';

const portNumber = z.int().min(0).max(65_535);

/** Fields for the HTTP servers. */
export const SERVER_FIELDS = {
  enableServer: field(bool, true, {
    flag: 'enable-server',
    about: 'serve the HTTP API',
    effect: composes('server.port'),
  }),
  address: field(ipAddress, '0.0.0.0', {
    flag: 'address',
    about: 'IP address that the HTTP API listens on',
    key: kubeletKey('server.address', z.string().min(1), '0.0.0.0'),
    effect: sets('server.address'),
  }),
  port: field(int32, 10250, {
    flag: 'port',
    about: 'port of the HTTPS API',
    key: kubeletKey('server.port', portNumber),
    check: portProblems,
    effect: sets('server.port'),
  }),
  readOnlyPort: field(int32, 0, {
    flag: 'read-only-port',
    about: 'port of the read-only API without authentication, 0 for none',
    check: optionalPortProblems,
    effect: sets('server.readOnlyPort'),
  }),
  tlsCertFile: field(path, '', {
    flag: 'tls-cert-file',
    about: "the server's certificate and chain (PEM)",
    key: kubeletKey('server.tls_cert_file', tomlPath),
    effect: sets('server.tls.certFile', (path) => path || undefined),
  }),
  tlsPrivateKeyFile: field(path, '', {
    flag: 'tls-private-key-file',
    about: "private key of the server's certificate (PEM)",
    key: kubeletKey('server.tls_private_key_file', tomlPath),
    effect: sets('server.tls.privateKeyFile', (path) => path || undefined),
  }),
  tlsCipherSuites: field(stringList, [], {
    flag: 'tls-cipher-suites',
    about: 'cipher suites of the server, for TLS up to 1.2',
    check: each(cipherSuiteProblems),
    effect: sets('server.tls.cipherSuites'),
  }),
  tlsCurvePreferences: field(intList, [], {
    about: 'key exchange curves of the server, by number',
    effect: onlyEmpty('curves cannot be chosen'),
  }),
  tlsMinVersion: field(choice('VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'), '', {
    flag: 'tls-min-version',
    about: 'minimum TLS version; VersionTLS12 if unset',
    effect: sets('server.tls.minVersion', (version) => version || 'VersionTLS12'),
  }),
  rotateCertificates: field(bool, false, {
    flag: 'rotate-certificates',
    about: 'renew the client certificate for the API server',
    effect: inCluster(setsNoOption),
  }),
  serverTLSBootstrap: field(bool, false, {
    flag: 'rotate-server-certificates',
    about: 'request the server certificate from the API server',
    effect: noted(setsNoOption, 'requires --kubeconfig'),
  }),
  'authentication.x509.clientCAFile': field(path, '', {
    flag: 'client-ca-file',
    about: 'certificate authorities of client certificates (PEM)',
    key: kubeletKey('server.client_ca_file', tomlPath),
    effect: sets('server.authentication.clientCaFile', (path) => path || undefined),
  }),
  'authentication.webhook.enabled': field(bool, true, {
    flag: 'authentication-token-webhook',
    about: 'let the API server review bearer tokens',
    effect: inCluster(composes('server.authentication.reviews')),
  }),
  'authentication.webhook.cacheTTL': field(duration, 120_000, {
    flag: 'authentication-token-webhook-cache-ttl',
    about: 'how long the review of a token is cached',
    check: atLeast(0),
    effect: inCluster(composes('server.authentication.reviews')),
  }),
  'authentication.anonymous.enabled': field(bool, false, {
    flag: 'anonymous-auth',
    about: 'accept requests without credentials as system:anonymous',
    key: kubeletKey('server.anonymous_auth', z.boolean(), false),
    effect: composes('server.authentication.anonymous'),
  }),
  'authorization.mode': field(choice('AlwaysAllow', 'Webhook'), 'Webhook', {
    flag: 'authorization-mode',
    about:
      'who may call the HTTP API: every authenticated caller (AlwaysAllow), or those that the API server allows (Webhook)',
    effect: noted(
      composes('server.authentication.anonymous'),
      'without an API server, authenticated callers may do everything; callers without credentials may do everything with AlwaysAllow, and nothing with Webhook',
    ),
  }),
  'authorization.webhook.cacheAuthorizedTTL': field(duration, 300_000, {
    flag: 'authorization-webhook-cache-authorized-ttl',
    about: 'how long an allowed access is cached',
    check: atLeast(0),
    effect: inCluster(composes('server.authentication.reviews')),
  }),
  'authorization.webhook.cacheUnauthorizedTTL': field(duration, 30_000, {
    flag: 'authorization-webhook-cache-unauthorized-ttl',
    about: 'how long a denied access is cached',
    check: atLeast(0),
    effect: inCluster(composes('server.authentication.reviews')),
  }),
  enableDebuggingHandlers: field(bool, true, {
    flag: 'enable-debugging-handlers',
    about: 'serve logs, exec, attach, port-forward and run over HTTP',
    effect: sets('server.enableDebuggingHandlers'),
  }),
  enableContentionProfiling: field(bool, false, {
    flag: 'contention-profiling',
    about: 'profile lock contention',
    effect: only([false], NO_LOCKS),
  }),
  enableProfilingHandler: field(bool, true, {
    about: 'serve /debug/pprof over HTTP',
    effect: noted(sets('server.enableProfilingHandler'), 'serves profile and heap in the formats of V8'),
  }),
  enableDebugFlagsHandler: field(bool, true, {
    about: 'serve /debug/flags/v over HTTP',
    effect: nothing('the log level is fixed when the kubelet starts'),
  }),
  enableSystemLogHandler: field(bool, true, {
    about: 'serve /logs/ over HTTP',
    effect: sets('server.enableSystemLogHandler'),
  }),
  enableSystemLogQuery: field(bool, false, {
    about: 'serve queries of the journal over HTTP',
    effect: only([false], 'the journal is not served'),
  }),
  healthzPort: field(int32, 10248, {
    flag: 'healthz-port',
    about: 'port of /healthz, 0 for none',
    key: kubeletKey('server.healthz_port', portNumber),
    check: optionalPortProblems,
    effect: sets('server.healthzPort'),
    keepsZero: true,
  }),
  healthzBindAddress: field(ipAddress, '127.0.0.1', {
    flag: 'healthz-bind-address',
    about: 'IP address that /healthz listens on',
    effect: sets('server.healthzBindAddress'),
  }),
  streamingConnectionIdleTimeout: field(duration, 14_400_000, {
    flag: 'streaming-connection-idle-timeout',
    about: 'time without traffic after which a stream is closed',
    check: atLeast(0),
    effect: sets('server.streamingConnectionIdleTimeoutMs'),
  }),
  volumeStatsAggPeriod: field(duration, 60_000, {
    flag: 'volume-stats-agg-period',
    about: 'interval at which volumes are measured for statistics',
    effect: nothing('volumes with a limit are measured every ten seconds, and others when /stats/summary is requested'),
  }),
  showHiddenMetricsForVersion: field(string, '', {
    about: 'show metrics that were hidden in this version',
    check: hiddenVersionProblems,
    effect: nothing('no metrics are hidden'),
  }),
};
