/** What the kubelet's HTTP servers are told: the fields of KubeletConfiguration that are theirs, with upstream's defaults in place. */
export type KubeletServerConfiguration = {
  /** `enableServer`: without it there is neither the HTTPS nor the read-only server. */
  enabled: boolean;
  /** IP address of the HTTPS and the read-only server; `0.0.0.0` and `::` are all of the host's. */
  address: string;
  /** Of the HTTPS server. */
  port: number;
  /** Of the server without authentication and authorization; 0 for none. */
  readOnlyPort: number;
  healthz: { bindAddress: string /** 0 for none. */; port: number };
  tls: KubeletTlsConfiguration;
  authentication: KubeletAuthentication;
  authorization: KubeletAuthorization;
  /** Logs, exec, attach, port-forward, run and the like. */
  enableDebuggingHandlers: boolean;
  enableProfilingHandler: boolean;
  /** `/debug/flags/v`. */
  enableDebugFlagsHandler: boolean;
  enableContentionProfiling: boolean;
  /** `/logs/`. */
  enableSystemLogHandler: boolean;
  /** A stream without traffic is closed after this; 0 for never. */
  streamingConnectionIdleTimeoutMs: number;
};

export type KubeletTlsConfiguration = {
  /** PEM files; without them the server has a certificate of its own in `certDir`. */
  certFile?: string;
  privateKeyFile?: string;
  /** Where a certificate of our own is kept (`--cert-dir`). */
  certDir: string;
  /** Go's name of the least version, as in configurations. */
  minVersion: 'VersionTLS10' | 'VersionTLS11' | 'VersionTLS12' | 'VersionTLS13';
  /** IANA names such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, for TLS up to 1.2; empty for the usual ones. */
  cipherSuites: string[];
};

export type KubeletAuthentication = {
  /** PEM: clients with a certificate of these authorities are known by its common name. */
  clientCaFile?: string;
  /** Bearer tokens are reviewed by an API server, and what it says is kept this long. */
  webhook: { enabled: boolean; cacheTtlMs: number };
  /** Whether requests that nothing else authenticates are those of `system:anonymous`, or refused. */
  anonymous: boolean;
};

export type KubeletAuthorization = {
  mode: 'AlwaysAllow' | 'Webhook';
  webhook: { cacheAuthorizedTtlMs: number; cacheUnauthorizedTtlMs: number };
};
