/** URL functions (apiserver, pkg/cel/library/urls.go; Go's package net/url). */
import { CelError, Opaque, type Value, ValueList, ValueMap } from '../values/values.ts';
import { type FunctionTable, overload, traversalOf } from './overload.ts';

const TYPE = 'kubernetes.URL';

type Parts = { scheme: string; host: string; path: string; query: string };

class UrlValue extends Opaque {
  readonly typeName = TYPE;
  readonly parts: Parts;
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
    this.parts = parseUrl(text.replace(/#[\s\S]*$/, ''));
  }

  equals(other: Opaque): boolean {
    return other instanceof UrlValue && other.#text === this.#text;
  }
}

/** Returns why a string is not an absolute URL or path (url.ParseRequestURI); `undefined` if it is one. */
export function urlProblem(text: string): string | undefined {
  try {
    parseUrl(text);
    return undefined;
  } catch (error) {
    if (error instanceof CelError) return `parse ${JSON.stringify(text)}: ${error.message}`;
    throw error;
  }
}

/** Parses a URL. Throws `CelError` with Go's error message. */
function parseUrl(text: string): Parts {
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new CelError('net/url: invalid control character in URL');
  if (text === '') throw new CelError('empty url');
  if (text.startsWith(':')) throw new CelError('missing protocol scheme');
  const [, scheme = '', rest = text] = /^(?:([a-zA-Z][a-zA-Z\d+.-]*):)?([\s\S]*)$/.exec(text) ?? [];
  const mark = rest.indexOf('?');
  const [before, query] = mark < 0 ? [rest, ''] : [rest.slice(0, mark), rest.slice(mark + 1)];
  if (!before.startsWith('/')) {
    if (scheme === '') throw new CelError('invalid URI for request');
    return { scheme: scheme.toLowerCase(), host: '', path: '', query };
  }
  const [, authority, path = before] = scheme === '' ? [] : (/^\/\/([^/]*)([\s\S]*)$/.exec(before) ?? []);
  checkEscapes(path);
  return { scheme: scheme.toLowerCase(), host: authority === undefined ? '' : hostOf(authority), path, query };
}

function hostOf(authority: string): string {
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const [, address, port] = /^(\[[^\]]*\]|[^:]*)(?::([\s\S]*))?$/.exec(host) ?? [];
  if (address === undefined && host.startsWith('[')) throw new CelError("missing ']' in host");
  const given = port ?? '';
  if (address === undefined || !/^\d*$/.test(given))
    throw new CelError(
      `invalid port ${JSON.stringify(`:${given === '' ? host.split(':').at(-1) : given}`)} after host`,
    );
  const wrong = /[ "<>\\^`{|}]/.exec(host)?.[0];
  if (wrong !== undefined) throw new CelError(`invalid character ${JSON.stringify(wrong)} in host name`);
  return host;
}

function checkEscapes(path: string): void {
  const wrong = /%(?![\da-fA-F]{2})[\s\S]{0,2}/.exec(path)?.[0];
  if (wrong !== undefined) throw new CelError(`invalid URL escape ${JSON.stringify(wrong)}`);
}

function hostname({ parts: { host } }: UrlValue): string {
  return host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}

function queryOf({ parts: { query } }: UrlValue): ValueMap {
  const entries = new Map<unknown, readonly [Value, Value]>();
  const values = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(query)) {
    const known = values.get(key) ?? [];
    known.push(value);
    values.set(key, known);
  }
  for (const [key, list] of values) entries.set(key, [key, new ValueList(list)]);
  return new ValueMap(entries);
}

export const URL_FUNCTIONS: FunctionTable = {
  url: [
    overload(
      `(string) -> ${TYPE}`,
      (text: string) => {
        const problem = urlProblem(text);
        if (problem !== undefined) throw new CelError(`URL parse error during conversion from string: ${problem}`);
        return new UrlValue(text);
      },
      traversalOf(),
    ),
  ],
  isURL: [overload('(string) -> bool', (text: string) => urlProblem(text) === undefined)],
  getScheme: [overload(`${TYPE}.() -> string`, ({ parts }: UrlValue) => parts.scheme)],
  getHost: [overload(`${TYPE}.() -> string`, ({ parts }: UrlValue) => parts.host)],
  getHostname: [overload(`${TYPE}.() -> string`, hostname)],
  getPort: [overload(`${TYPE}.() -> string`, ({ parts }: UrlValue) => /:(\d*)$/.exec(parts.host)?.[1] ?? '')],
  getEscapedPath: [overload(`${TYPE}.() -> string`, ({ parts }: UrlValue) => escapedPath(parts.path))],
  getQuery: [overload(`${TYPE}.() -> map(string, list(string))`, queryOf)],
};

/** Escapes the characters of a path that must be escaped and are not. */
const escapedPath = (path: string): string =>
  path.replace(/[^\w%$&+,/:;=@!'()*.~-]/gu, (char) => encodeURIComponent(char).toUpperCase());
