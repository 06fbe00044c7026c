import type { Readable } from 'node:stream';

/** An HTTP request. `path` includes the query string. */
export type HttpRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Whether the response may take minutes, like a watch's. Other requests must not wait for it. */
  isLong?: true;
};

/** An HTTP response. The caller must read or destroy its body. */
export type HttpAnswer = {
  status: number;
  header(name: string): string | undefined;
  body: Readable;
  /** Whether the body was received completely. Valid only once the body has ended. */
  isWhole(): boolean;
};

/** Options for TLS connections. Certificates and keys are in PEM format. */
export type TlsOptions = {
  /** Trusted CAs. Default: the host's. */
  ca?: string | Buffer;
  certificate?: string | Buffer;
  key?: string | Buffer;
  /** The expected name in the server's certificate. Default: the URL's host. */
  serverName?: string;
  insecureSkipTlsVerify?: boolean;
};

/** The protocol, host and port of the server's URL, without the path. */
export type ServerAddress = { protocol: 'http:' | 'https:'; host: string; port: number };
