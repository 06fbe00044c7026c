/** The addresses and the access control of the kubelet's HTTP API. Names and defaults are those of KubeletConfiguration v1beta1. */
export type KubeletServerOptions = {
  /** IP address of the HTTPS server and of the read-only server. `0.0.0.0` (the default) and `::` mean all addresses. */
  address: string;
  /** Port of the HTTPS server, 10250 by default; 0 disables it. */
  port: number;
  /** Port of a plain HTTP server that serves pods, statistics and metrics without authentication. 0 (the default) disables it. */
  readOnlyPort: number;
  /** Address and port of the plain HTTP server for `/healthz`. 127.0.0.1:10248 by default; port 0 disables it. */
  healthzBindAddress: string;
  healthzPort: number;
  tls: ServerTls;
  authentication: ServerAuthentication;
  /**
   * Whether to serve logs, exec, attach, port-forward, run, checkpoint and configz, in addition to pods, statistics and metrics. True by
   * default.
   */
  enableDebuggingHandlers: boolean;
  /** Whether to serve `/debug/pprof/`, with profiles of the kubelet itself. True by default. */
  enableProfilingHandler: boolean;
  /** Whether to serve `/logs/`, the host's log directory. True by default. */
  enableSystemLogHandler: boolean;
  /** Idle time in milliseconds after which a stream is closed. 4 hours by default; 0 means no limit. */
  streamingConnectionIdleTimeoutMs: number;
};

export type ServerTls = {
  /** PEM files with the certificate (and its chain) and the key. If both are absent, a self-signed pair is created in `certDirectory`. */
  certFile?: string;
  privateKeyFile?: string;
  /** Directory for the self-signed `kubelet.crt` and `kubelet.key`. `<rootDir>/pki` by default. */
  certDirectory?: string;
  minVersion: TlsVersion;
  /** Go's names of cipher suites up to TLS 1.2. An empty list means Node.js' default. */
  cipherSuites: string[];
};

/** TLS versions by Go's names, as in KubeletConfiguration. */
export type TlsVersion = 'VersionTLS10' | 'VersionTLS11' | 'VersionTLS12' | 'VersionTLS13';

/**
 * How the server authenticates clients. An authenticated user may make every request, unless `reviews.access` enables authorization by the
 * cluster.
 */
export type ServerAuthentication = {
  /** Whether requests without credentials are accepted as `system:anonymous`; false by default. */
  anonymous: boolean;
  /** PEM file with the client CAs. If absent, client certificates are not accepted. */
  clientCaFile?: string;
  /** File with a bearer token on each line: `token`, or `token,user,uid,"group1,group2"`. Changes of the file apply at once. */
  tokenFile?: string;
  /** Reviews by the API server; `undefined` on a node without a cluster. */
  reviews?: ServerReviews;
};

/** The enabled kinds of review, and how long their results are cached, in milliseconds. */
export type ServerReviews = {
  /** Authentication of bearer tokens (TokenReview). */
  tokens?: { keptMs: number };
  /** Authorization of users (SubjectAccessReview). */
  access?: { allowedMs: number; deniedMs: number };
};

/** Returns the given options, with upstream's defaults for the others. */
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
