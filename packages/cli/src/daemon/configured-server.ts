/** Maps fields of a KubeletConfiguration and flags to the options of the HTTP API. */
import type { KubeletConfiguration, KubeletServerOptions } from '@podwright/kubelet-configuration';
import { type FieldSetters, type WantedFields, withFields } from './configured-fields.ts';

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

/** The setter of each field. The order matters: `enableServer` overrides the ports. */
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
  // without an API server, anonymous callers cannot be authorized, so they are refused
  'authorization.mode': authentication((configuration, { anonymous }) => ({
    anonymous: anonymous && isOpen(configuration),
  })),
};

/** Applies the fields to the settings. In a cluster, upstream's defaults of authentication and authorization apply. */
export function configuredServer(server: KubeletServerOptions, fields: WantedFields): KubeletServerOptions {
  const applied = withFields(server, SETTERS, fields);
  const { configuration } = fields;
  if (configuration.kubeconfig === '') return applied;
  const anonymous = configuration['authentication.anonymous.enabled'];
  return { ...applied, authentication: { ...applied.authentication, anonymous, reviews: reviewsOf(configuration) } };
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
