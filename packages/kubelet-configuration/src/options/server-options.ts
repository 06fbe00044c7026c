/** The addresses and access control of the kubelet's HTTP API. Names and defaults match KubeletConfiguration v1beta1. */
export type KubeletServerOptions = {
  /** IP address of the HTTPS server and the read-only server. `0.0.0.0` (the default) and `::` mean all addresses. */
  address: string;
  /** Port of the HTTPS server; 0 disables it. Default: 10250. */
  port: number;
  /** Port of a plain HTTP server that serves pods, statistics and metrics without authentication. Default: 0, which disables it. */
  readOnlyPort: number;
  /** Address and port of the plain HTTP server for `/healthz`; port 0 disables it. Default: 127.0.0.1:10248. */
  healthzBindAddress: string;
  healthzPort: number;
  tls: ServerTls;
  authentication: ServerAuthentication;
  /**
   * Whether to serve logs, exec, attach, port-forward, run, checkpoint and configz in addition to pods, statistics and metrics. Default:
   * true.
   */
  enableDebuggingHandlers: boolean;
  /** Whether to serve `/debug/pprof/`, which provides profiles of the kubelet itself. Default: true. */
  enableProfilingHandler: boolean;
  /** Whether to serve `/logs/`, the host's log directory. Default: true. */
  enableSystemLogHandler: boolean;
  /** Idle time after which a stream is closed, in milliseconds; 0 for no limit. Default: 4 hours. */
  streamingConnectionIdleTimeoutMs: number;
};

export type ServerTls = {
  /**
   * PEM files with the certificate (and its chain) and the private key. If both are unset, a self-signed pair is created in
   * `certDirectory`.
   */
  certFile?: string;
  privateKeyFile?: string;
  /** Directory for the self-signed `kubelet.crt` and `kubelet.key`. Default: `<rootDir>/pki`. */
  certDirectory?: string;
  minVersion: TlsVersion;
  /** Cipher suites up to TLS 1.2, by their Go names. If empty, Node.js's defaults are used. */
  cipherSuites: string[];
};

/** TLS versions, by their Go names as in KubeletConfiguration. */
export type TlsVersion = 'VersionTLS10' | 'VersionTLS11' | 'VersionTLS12' | 'VersionTLS13';

/**
 * How the server authenticates clients. Authenticated users may make any request unless `reviews.access` delegates authorization to the API
 * server.
 */
export type ServerAuthentication = {
  /** Whether requests without credentials are accepted as `system:anonymous`. Default: false. */
  anonymous: boolean;
  /** PEM file with the client CAs. If unset, client certificates are not accepted. */
  clientCaFile?: string;
  /** File with one bearer token per line: `token`, or `token,user,uid,"group1,group2"`. Changes to the file take effect immediately. */
  tokenFile?: string;
  /** Token and access reviews by the API server; `undefined` on a node without a cluster. */
  reviews?: ServerReviews;
};

/** The enabled types of reviews, and how long to cache their results, in milliseconds. */
export type ServerReviews = {
  /** Authentication of bearer tokens (TokenReview). */
  tokens?: { keptMs: number };
  /** Authorization of users (SubjectAccessReview). */
  access?: { allowedMs: number; deniedMs: number };
};

/** Returns the server options, with upstream's defaults for unset ones. */
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
