import type { Readable } from 'node:stream';

/** One request; `path` includes the query. */
export type HttpRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Whether the response may take minutes, as that of a watch does. Other requests must not wait for it. */
  isLong?: true;
};

/** A response. The caller must read or destroy its body. */
export type HttpAnswer = {
  status: number;
  header(name: string): string | undefined;
  body: Readable;
  /** Whether the body ended normally. Valid after its end. */
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

/** The server's URL without the path. */
export type ServerAddress = { protocol: 'http:' | 'https:'; host: string; port: number };
