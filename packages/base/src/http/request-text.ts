import { hasControlCharacter } from './answer-head.ts';

/** Fields of a request, by name; one that stands there several times has a list. A character is a byte. */
export type RequestFields = Record<string, string | string[]>;

/**
 * A GET in HTTP/1.1, to be sent as latin1 on a connection of its own. Throws in Go's words for a value that would not end
 * where its line does.
 */
export function requestText(url: URL, fields: RequestFields): string {
  const lines = Object.entries({ ...fields, Connection: 'close' }).flatMap(([name, values]) =>
    [values].flat().map((value) => {
      if (!hasControlCharacter(value)) return `${name}: ${value}\r\n`;
      throw new Error(`net/http: invalid header field value for ${JSON.stringify(name)}`);
    }),
  );
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
