import type { Readable } from 'node:stream';

/** One request; `path` includes the query. */
export type HttpRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Whether the response may last for minutes, as for a watch: then other requests must not wait for it. */
  isLong?: true;
};

/** A response. The caller must read or destroy its body. */
export type HttpAnswer = {
  status: number;
  header(name: string): string | undefined;
  body: Readable;
  /** Whether the body ended normally; valid once it has ended. */
  isWhole(): boolean;
};

/** Options of TLS connections. PEM. */
export type TlsOptions = {
  /** Trusted authorities. Default: the host's. */
  ca?: string | Buffer;
  certificate?: string | Buffer;
  key?: string | Buffer;
  /** The expected name in the server's certificate. Default: the host of the URL. */
  serverName?: string;
  insecureSkipTlsVerify?: boolean;
};

/** Address of a server: its URL without the path. */
export type ServerAddress = { protocol: 'http:' | 'https:'; host: string; port: number };
