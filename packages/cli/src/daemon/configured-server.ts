/** What fields of a KubeletConfiguration and flags make of the settings of the HTTP API. */
import type { KubeletConfiguration, KubeletServerOptions } from '@podwright/kubelet';

type Setter = (configuration: KubeletConfiguration, server: KubeletServerOptions) => Partial<KubeletServerOptions>;
type Tls = KubeletServerOptions['tls'];
type Authentication = KubeletServerOptions['authentication'];

const tls =
  (change: (configuration: KubeletConfiguration) => Partial<Tls>): Setter =>
  (configuration, server) => ({ tls: { ...server.tls, ...change(configuration) } });

const authentication =
  (change: (configuration: KubeletConfiguration, before: Authentication) => Partial<Authentication>): Setter =>
  (configuration, { authentication: before }) => ({
    authentication: { ...before, ...change(configuration, before) },
  });

const isOpen = (configuration: KubeletConfiguration) => configuration['authorization.mode'] === 'AlwaysAllow';

/** How each field sets them, in this order: `enableServer` takes ports back. */
const SETTERS: Partial<Record<keyof KubeletConfiguration, Setter>> = {
  address: ({ address }) => ({ address }),
  port: ({ port }) => ({ port }),
  readOnlyPort: ({ readOnlyPort }) => ({ readOnlyPort }),
  enableServer: ({ enableServer }) => (enableServer ? {} : { port: 0, readOnlyPort: 0 }),
  healthzPort: ({ healthzPort }) => ({ healthzPort }),
  healthzBindAddress: ({ healthzBindAddress }) => ({ healthzBindAddress }),
  enableDebuggingHandlers: ({ enableDebuggingHandlers }) => ({ enableDebuggingHandlers }),
  enableProfilingHandler: ({ enableProfilingHandler }) => ({ enableProfilingHandler }),
  enableSystemLogHandler: ({ enableSystemLogHandler }) => ({ enableSystemLogHandler }),
  streamingConnectionIdleTimeout: ({ streamingConnectionIdleTimeout: streamingConnectionIdleTimeoutMs }) => ({
    streamingConnectionIdleTimeoutMs,
  }),
  tlsCertFile: tls(({ tlsCertFile }) => ({ certFile: tlsCertFile || undefined })),
  tlsPrivateKeyFile: tls(({ tlsPrivateKeyFile }) => ({ privateKeyFile: tlsPrivateKeyFile || undefined })),
  tlsCipherSuites: tls(({ tlsCipherSuites }) => ({ cipherSuites: tlsCipherSuites })),
  tlsMinVersion: tls(({ tlsMinVersion }) => ({ minVersion: tlsMinVersion || 'VersionTLS12' })),
  certDirectory: tls(({ certDirectory }) => ({ certDirectory: certDirectory || undefined })),
  'authentication.x509.clientCAFile': authentication((configuration) => ({
    clientCaFile: configuration['authentication.x509.clientCAFile'] || undefined,
  })),
  tokenAuthFile: authentication(({ tokenAuthFile }) => ({ tokenFile: tokenAuthFile || undefined })),
  'authentication.anonymous.enabled': authentication((configuration) => ({
    anonymous: configuration['authentication.anonymous.enabled'] && isOpen(configuration),
  })),
  // there is no API server to ask what anonymous callers may do, so they may do nothing
  'authorization.mode': authentication((configuration, { anonymous }) => ({
    anonymous: anonymous && isOpen(configuration),
  })),
};

/** The settings with these fields laid over them. */
export function configuredServer(
  server: KubeletServerOptions,
  configuration: KubeletConfiguration,
  isWanted: (field: string) => boolean,
): KubeletServerOptions {
  const laid = { ...server };
  for (const [field, set] of Object.entries(SETTERS))
    if (isWanted(field)) Object.assign(laid, set(configuration, laid));
  return laid;
}
