/** A permitted use of a host: `resolve` turns a tag into a digest, `pull` serves content by digest. */
export type RegistryCapability = 'pull' | 'resolve' | 'push' | 'referrers';

/** TLS settings for one host, in PEM. The CAs are trusted in addition to the system's own. */
export type RegistryTls = {
  ca: string[];
  clientCertificates: { certificate: string; key: string }[];
  skipVerify: boolean;
};

/** A server for a registry's repositories: the registry itself or a mirror. */
export type RegistryHost = {
  /** Base URL of the API, without a trailing slash, such as `https://registry-1.docker.io/v2`. */
  baseUrl: string;
  capabilities: RegistryCapability[];
  tls: RegistryTls;
  /** Headers sent with every request to this host. */
  headers: Record<string, string[]>;
  /** The registry that this host mirrors, sent as the `ns` query parameter; '' for the registry itself. */
  namespace: string;
  /** Whether to try https before http: set for a loopback registry with no configured scheme, and for an http host with TLS settings. */
  fallsBackToHttp: boolean;
  /** Maximum time to establish a connection (`dial_timeout`). If unset, only the stall timeout applies. */
  dialTimeoutMs?: number;
};

const noTls: RegistryTls = { ca: [], clientCertificates: [], skipVerify: false };

/** Returns the host used for `domain` if nothing is configured, as in containerd. */
export function defaultHost(domain: string, settings: Partial<RegistryHost> = {}): RegistryHost {
  const common = {
    capabilities: ['pull', 'resolve', 'push'] satisfies RegistryCapability[],
    tls: noTls,
    headers: {},
    namespace: '',
    fallsBackToHttp: false,
    ...settings,
  };
  if (domain === 'docker.io') return { ...common, baseUrl: 'https://registry-1.docker.io/v2' };
  if (!isLoopback(domain)) return { ...common, baseUrl: `https://${domain}/v2` };
  const port = /:(\d+)$/.exec(domain)?.[1] ?? '';
  if (port === '80') return { ...common, baseUrl: `http://${domain}/v2` };
  const fallsBackToHttp = port !== '' && port !== '443';
  return { ...common, baseUrl: `https://${domain}/v2`, tls: { ...common.tls, skipVerify: true }, fallsBackToHttp };
}

/** Whether `domain` is `localhost`, in 127.0.0.0/8, or ::1, with or without a port. */
export function isLoopback(domain: string): boolean {
  const host = domain.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
