import type { Readable } from 'node:stream';

/** One request; `path` with its query. */
export type HttpRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Its answer goes on for minutes, as that of a watch: others must not wait for it. */
  isLong?: true;
};

/** The head of an answer, and its body, to be read or destroyed by whoever has the answer. */
export type HttpAnswer = {
  status: number;
  header(name: string): string | undefined;
  body: Readable;
  /** Whether the body came to an end of the server's making; to be asked once the body has ended. */
  isWhole(): boolean;
};

/** What connections are made with. PEM. */
export type TlsOptions = {
  /** Authorities whose servers are trusted; those of the host unless given. */
  ca?: string | Buffer;
  certificate?: string | Buffer;
  key?: string | Buffer;
  /** The name that the server's certificate must have, instead of that in the URL. */
  serverName?: string;
  insecureSkipTlsVerify?: boolean;
};

/** A server's place: the URL without its path. */
export type ServerAddress = { protocol: 'http:' | 'https:'; host: string; port: number };
