import { field, nothing, only, onlyEmpty, sets, setsInCluster } from './field.ts';
import { bool, choice, duration, int32, intList, ipAddress, path, string, stringList } from './field-types.ts';

const NO_LOCKS = 'there are no locks to wait for in Node.js';

/** Fields about the HTTP servers and what they tell. */
export const SERVER_FIELDS = {
  enableServer: field(bool, true, { flag: 'enable-server', about: 'serve the HTTP API', effect: sets('server.port') }),
  address: field(ipAddress, '0.0.0.0', {
    flag: 'address',
    about: 'IP address to serve on',
    effect: sets('server.address'),
  }),
  port: field(int32, 10250, { flag: 'port', about: 'port of the HTTPS API', effect: sets('server.port') }),
  readOnlyPort: field(int32, 0, {
    flag: 'read-only-port',
    about: 'port without authentication, 0 for none',
    effect: sets('server.readOnlyPort'),
  }),
  tlsCertFile: field(path, '', {
    flag: 'tls-cert-file',
    about: "the server's certificate (PEM)",
    effect: sets('server.tls.certFile'),
  }),
  tlsPrivateKeyFile: field(path, '', {
    flag: 'tls-private-key-file',
    about: 'its key (PEM)',
    effect: sets('server.tls.privateKeyFile'),
  }),
  tlsCipherSuites: field(stringList, [], {
    flag: 'tls-cipher-suites',
    about: 'cipher suites of the server, for TLS up to 1.2',
    effect: sets('server.tls.cipherSuites'),
  }),
  tlsCurvePreferences: field(intList, [], {
    about: 'curves of the server, by number',
    effect: onlyEmpty('curves cannot be chosen'),
  }),
  tlsMinVersion: field(choice('VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'), '', {
    flag: 'tls-min-version',
    about: 'least version of TLS: VersionTLS10 to VersionTLS13',
    effect: sets('server.tls.minVersion'),
  }),
  rotateCertificates: field(bool, false, {
    flag: 'rotate-certificates',
    about: 'renew the client certificate for the API server',
    effect: setsInCluster('cluster'),
  }),
  serverTLSBootstrap: field(bool, false, {
    flag: 'rotate-server-certificates',
    about: 'have the API server sign the server certificate',
    effect: sets('server.tls.signed', 'needs kubeconfig'),
  }),
  'authentication.x509.clientCAFile': field(path, '', {
    flag: 'client-ca-file',
    about: 'authorities of client certificates (PEM)',
    effect: sets('server.authentication.clientCaFile'),
  }),
  'authentication.webhook.enabled': field(bool, true, {
    flag: 'authentication-token-webhook',
    about: 'have bearer tokens reviewed',
    effect: setsInCluster('server.authentication.reviews.tokens'),
  }),
  'authentication.webhook.cacheTTL': field(duration, 120_000, {
    flag: 'authentication-token-webhook-cache-ttl',
    about: 'how long a review of a token is kept',
    effect: setsInCluster('server.authentication.reviews.tokens'),
  }),
  'authentication.anonymous.enabled': field(bool, false, {
    flag: 'anonymous-auth',
    about: 'let requests without credentials be system:anonymous',
    effect: sets('server.authentication.anonymous'),
  }),
  'authorization.mode': field(choice('AlwaysAllow', 'Webhook'), 'Webhook', {
    flag: 'authorization-mode',
    about: 'AlwaysAllow or Webhook',
    effect: sets(
      'server.authentication.anonymous',
      'without a cluster all is allowed with a certificate or token, and else with Webhook nothing',
    ),
  }),
  'authorization.webhook.cacheAuthorizedTTL': field(duration, 300_000, {
    flag: 'authorization-webhook-cache-authorized-ttl',
    about: 'how long a yes is kept',
    effect: setsInCluster('server.authentication.reviews.access'),
  }),
  'authorization.webhook.cacheUnauthorizedTTL': field(duration, 30_000, {
    flag: 'authorization-webhook-cache-unauthorized-ttl',
    about: 'how long a no is kept',
    effect: setsInCluster('server.authentication.reviews.access'),
  }),
  enableDebuggingHandlers: field(bool, true, {
    flag: 'enable-debugging-handlers',
    about: 'logs, exec, attach, port-forward and run over HTTP',
    effect: sets('server.enableDebuggingHandlers'),
  }),
  enableContentionProfiling: field(bool, false, {
    flag: 'contention-profiling',
    about: 'profile waiting for locks',
    effect: only([false], NO_LOCKS),
  }),
  enableProfilingHandler: field(bool, true, {
    about: '/debug/pprof over HTTP',
    effect: sets('server.enableProfilingHandler', 'profile and heap, in the formats of V8'),
  }),
  enableDebugFlagsHandler: field(bool, true, {
    about: '/debug/flags/v over HTTP',
    effect: nothing('the level of the log is set when the kubelet starts'),
  }),
  enableSystemLogHandler: field(bool, true, {
    about: '/logs/ over HTTP',
    effect: sets('server.enableSystemLogHandler'),
  }),
  enableSystemLogQuery: field(bool, false, {
    about: 'queries of the journal over HTTP',
    effect: only([false], 'the journal is not served'),
  }),
  healthzPort: field(int32, 10248, {
    flag: 'healthz-port',
    about: 'port of /healthz, 0 for none',
    effect: sets('server.healthzPort'),
    keepsZero: true,
  }),
  healthzBindAddress: field(ipAddress, '127.0.0.1', {
    flag: 'healthz-bind-address',
    about: 'IP address of /healthz',
    effect: sets('server.healthzBindAddress'),
  }),
  streamingConnectionIdleTimeout: field(duration, 14_400_000, {
    flag: 'streaming-connection-idle-timeout',
    about: 'a stream without traffic ends after this',
    effect: sets('server.streamingConnectionIdleTimeoutMs'),
  }),
  volumeStatsAggPeriod: field(duration, 60_000, {
    flag: 'volume-stats-agg-period',
    about: 'how often volumes are measured for statistics',
    effect: nothing('volumes are measured for their limits, every ten seconds'),
  }),
  showHiddenMetricsForVersion: field(string, '', {
    about: 'show metrics that this version hid',
    effect: nothing('no metrics are hidden'),
  }),
  'tracing.endpoint': field(string, undefined, {
    about: 'OTLP collector of traces',
    effect: sets('tracing'),
  }),
  'tracing.samplingRatePerMillion': field(int32, undefined, {
    about: 'share of syncs that are traced',
    effect: sets('tracing'),
    keepsZero: true,
  }),
};
