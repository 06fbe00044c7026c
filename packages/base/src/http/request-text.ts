import { hasControlCharacter } from './answer-head.ts';

/** Request header fields by name. A list is sent as repeated fields. Each character is sent as one byte (latin1). */
export type RequestFields = Record<string, string | string[]>;

/**
 * Builds an HTTP/1.1 GET request for `target`, a path and query, to be sent as latin1. Throws an error worded as in Go if a value contains
 * control characters, which could inject fields.
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
