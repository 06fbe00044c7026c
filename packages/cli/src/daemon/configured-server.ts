/** What fields of a KubeletConfiguration and flags make of the settings of the HTTP API. */
import type { KubeletConfiguration, KubeletServerOptions } from '@podwright/kubelet-configuration';
import { type FieldSetters, type WantedFields, withFields } from './laid-fields.ts';

type Tls = KubeletServerOptions['tls'];
type Authentication = KubeletServerOptions['authentication'];

const tls =
  (change: (configuration: KubeletConfiguration) => Partial<Tls>) =>
  (server: KubeletServerOptions, configuration: KubeletConfiguration) => ({
    tls: { ...server.tls, ...change(configuration) },
  });

const authentication =
  (change: (configuration: KubeletConfiguration, before: Authentication) => Partial<Authentication>) =>
  ({ authentication: before }: KubeletServerOptions, configuration: KubeletConfiguration) => ({
    authentication: { ...before, ...change(configuration, before) },
  });

const isOpen = (configuration: KubeletConfiguration) => configuration['authorization.mode'] === 'AlwaysAllow';

/** How each field sets them, in this order: `enableServer` takes ports back. */
const SETTERS: FieldSetters<KubeletServerOptions> = {
  address: (_, { address }) => ({ address }),
  port: (_, { port }) => ({ port }),
  readOnlyPort: (_, { readOnlyPort }) => ({ readOnlyPort }),
  enableServer: (_, { enableServer }) => (enableServer ? {} : { port: 0, readOnlyPort: 0 }),
  healthzPort: (_, { healthzPort }) => ({ healthzPort }),
  healthzBindAddress: (_, { healthzBindAddress }) => ({ healthzBindAddress }),
  enableDebuggingHandlers: (_, { enableDebuggingHandlers }) => ({ enableDebuggingHandlers }),
  enableProfilingHandler: (_, { enableProfilingHandler }) => ({ enableProfilingHandler }),
  enableSystemLogHandler: (_, { enableSystemLogHandler }) => ({ enableSystemLogHandler }),
  streamingConnectionIdleTimeout: (_, { streamingConnectionIdleTimeout: streamingConnectionIdleTimeoutMs }) => ({
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

/** The settings with these fields laid over them, and in a cluster upstream's defaults of who may call. */
export function configuredServer(server: KubeletServerOptions, fields: WantedFields): KubeletServerOptions {
  const laid = withFields(server, SETTERS, fields);
  const { configuration } = fields;
  if (configuration.kubeconfig === '') return laid;
  const anonymous = configuration['authentication.anonymous.enabled'];
  return { ...laid, authentication: { ...laid.authentication, anonymous, reviews: reviewsOf(configuration) } };
}

function reviewsOf(configuration: KubeletConfiguration): Authentication['reviews'] {
  const access = {
    allowedMs: configuration['authorization.webhook.cacheAuthorizedTTL'],
    deniedMs: configuration['authorization.webhook.cacheUnauthorizedTTL'],
  };
  return {
    ...(configuration['authentication.webhook.enabled']
      ? { tokens: { keptMs: configuration['authentication.webhook.cacheTTL'] } }
      : {}),
    ...(isOpen(configuration) ? {} : { access }),
  };
}
