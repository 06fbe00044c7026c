import { hasControlCharacter } from './answer-head.ts';

/** Fields of a request, by name; one that stands there several times has a list. A character is a byte. */
export type RequestFields = Record<string, string | string[]>;

/**
 * A GET of `target`, a path and query, in HTTP/1.1, to be sent as latin1. Throws in Go's words for a value that would not
 * end where its line does.
 */
export function requestText(target: string, fields: RequestFields): string {
  const lines = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => {
      if (!hasControlCharacter(value)) return `${name}: ${value}\r\n`;
      throw new Error(`net/http: invalid header field value for ${JSON.stringify(name)}`);
    }),
  );
  return `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
