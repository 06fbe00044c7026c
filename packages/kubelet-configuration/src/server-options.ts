/** Where the kubelet's HTTP API is served, and to whom. Field names and defaults are those of KubeletConfiguration v1beta1. */
export type KubeletServerOptions = {
  /** Address of the HTTPS server and of the read-only one; `0.0.0.0` and `::` mean all. */
  address: string;
  /** Port of the HTTPS server, 0 for none. */
  port: number;
  /** Port of a plain HTTP server that tells pods, statistics and metrics to everybody, 0 for none. */
  readOnlyPort: number;
  /** Address and port of the plain HTTP server that tells only whether the kubelet is healthy; port 0 for none. */
  healthzBindAddress: string;
  healthzPort: number;
  tls: ServerTls;
  authentication: ServerAuthentication;
  /** Logs, exec, attach, port-forward, run, checkpoint, configz and the like; without them only pods, statistics and metrics. */
  enableDebuggingHandlers: boolean;
  /** `/debug/pprof/`, profiles of the kubelet itself. */
  enableProfilingHandler: boolean;
  /** `/logs/`, the host's log directory. */
  enableSystemLogHandler: boolean;
  /** How long a stream may be idle before it is ended, in milliseconds; 0 for any time. */
  streamingConnectionIdleTimeoutMs: number;
};

export type ServerTls = {
  /** PEM files of a certificate (with its chain) and its key, both or neither: then one is made and kept in `certDirectory`. */
  certFile?: string;
  privateKeyFile?: string;
  /** Where a certificate of our own is, as `kubelet.crt` and `kubelet.key`; `<rootDir>/pki` if left out. */
  certDirectory?: string;
  minVersion: TlsVersion;
  /** Go's names of cipher suites up to TLS 1.2; none means Node.js' choice. */
  cipherSuites: string[];
};

/** Go's names, as in KubeletConfiguration. */
export type TlsVersion = 'VersionTLS10' | 'VersionTLS11' | 'VersionTLS12' | 'VersionTLS13';

/** Who may call: whoever is authenticated in one of these ways may do everything, unless `reviews.access` says otherwise. */
export type ServerAuthentication = {
  /** Requests without credentials are those of `system:anonymous`. */
  anonymous: boolean;
  /** PEM file of authorities whose client certificates are taken. */
  clientCaFile?: string;
  /** File of bearer tokens, a line each: `token`, or `token,user,uid,"group1,group2"`. Read again when it changes. */
  tokenFile?: string;
  /** What a cluster's API server is asked; a lone node asks nobody. */
  reviews?: ServerReviews;
};

/** Times in milliseconds for which answers are kept. */
export type ServerReviews = {
  /** Whose a bearer token is (TokenReview). */
  tokens?: { keptMs: number };
  /** Whether a user may (SubjectAccessReview). */
  access?: { allowedMs: number; deniedMs: number };
};

/** The options with upstream's defaults for what is left out. */
export function kubeletServerOptions(given: Partial<KubeletServerOptions> = {}): KubeletServerOptions {
  return {
    address: '0.0.0.0',
    port: 10250,
    readOnlyPort: 0,
    healthzBindAddress: '127.0.0.1',
    healthzPort: 10248,
    tls: { minVersion: 'VersionTLS12', cipherSuites: [] },
    authentication: { anonymous: false },
    enableDebuggingHandlers: true,
    enableProfilingHandler: true,
    enableSystemLogHandler: true,
    streamingConnectionIdleTimeoutMs: 4 * 3_600_000,
    ...given,
  };
}
