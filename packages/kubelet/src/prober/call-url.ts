/** URLs of httpGet handlers and redirects, parsed and formatted as Go's net/url does. Pure. */

/**
 * A parsed URL. `query` includes its `?` and `fragment` its `#`; `path` may be empty. `host` includes the port as written. It is empty in
 * `file:///x` and in `mailto:x`, whose path is `x`.
 */
export type CallUrl = { scheme: string; host: string; path: string; query: string; fragment: string };

/** A string that holds one byte per character. */
type ByteText = string;

const FRAGMENT = /[^-\w.~$&+,/:;=?@!()*]/g;
const PATH = /[^-\w.~$&+,/:;=@]/g;
/** Matches a path that is already escaped. */
const VALID_PATH = /^[-\w.~$&+,/:;=@!'()*[\]%]*$/;
const VALID_FRAGMENT = /^[-\w.~$&+,/:;=@!'()*[\]%?]*$/;
const WRONG_ESCAPE = /%(?![\da-f]{2})/i;
const AUTHORITY = /^(?:[^@]*@)?(\[[\da-f:.]+\]|[^\0-\x20#%/:?@[\\\]^`{|}\x7f]*)(?::(\d*))?$/i;
const MAX_PORT = 65_535;

/**
 * Returns the URL of an httpGet handler; `host` includes the port. Only the path, query and fragment of the handler's `path` are used. If
 * it is not a valid URL reference, it is escaped as a whole and used as the path. `undefined` if the host is invalid.
 */
export function handlerUrl({ scheme, host }: { scheme: string; host: string }, path: string): CallUrl | undefined {
  if (hostnameOf(host) === undefined) return undefined;
  const text = bytesOf(path);
  const whole = { scheme: undefined, host: undefined, path: escapeBytes(text, PATH), query: '', fragment: '' };
  const given = parseReference(text) ?? whole;
  const isRooted = given.path === '' || given.path.startsWith('/');
  // as in upstream, which turns `a:b` into the host-less URL `http:b`
  if (given.scheme !== undefined && given.host === '' && !isRooted) return { ...given, scheme };
  return { ...given, scheme, host, path: isRooted ? given.path : `/${given.path}` };
}

/** Resolves a Location header. `isAbsolute`: whether the header has a scheme. `undefined` if it is invalid. */
export function redirectUrl(location: ByteText, from: CallUrl): { url: CallUrl; isAbsolute: boolean } | undefined {
  const given = parseReference(location);
  if (given === undefined) return undefined;
  const { scheme, host, path, query, fragment } = given;
  const isAbsolute = scheme !== undefined;
  if (isAbsolute || host) {
    const url = { scheme: scheme ?? from.scheme, host: host ?? '', path: resolvePath(path, ''), query, fragment };
    return { url, isAbsolute };
  }
  const isSame = path === '' && query === '';
  const rest = isSame ? { query: from.query, fragment: fragment || from.fragment } : { query, fragment };
  return { url: { ...from, path: resolvePath(from.path, path), ...rest }, isAbsolute };
}

/** Returns the request target, as sent in the request line. */
export function requestTarget({ path, query }: CallUrl): string {
  return `${path || '/'}${query}`;
}

/** Formats the URL for messages and the Referer header. */
export function urlText({ scheme, host, path, query, fragment }: CallUrl): string {
  const authority = host === '' && !path.startsWith('/') ? '' : `//${host}`;
  return `${scheme}:${authority}${path}${query}${fragment}`;
}

/** Returns the host without port and brackets; `undefined` if it is invalid. */
export function hostnameOf(host: string): string | undefined {
  return AUTHORITY.exec(host)?.[1]?.replace(/^\[|\]$/g, '');
}

/** Returns the explicit port or, if there is none, the scheme's default port. */
export function portOf({ scheme, host }: CallUrl): number {
  return Number(AUTHORITY.exec(host)?.[2] || (scheme === 'https' ? 443 : 80));
}

/** Splits a URL reference; `undefined` if it is invalid. */
function parseReference(text: ByteText) {
  const parts = /^(?:([a-z][-+.a-z\d]*):)?([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(text);
  const [, scheme, hierarchy = '', query = '', fragment = ''] = parts ?? [];
  if (/[\0-\x1f\x7f]/.test(text.slice(0, text.length - fragment.length))) return undefined;
  if (WRONG_ESCAPE.test(hierarchy) || WRONG_ESCAPE.test(fragment)) return undefined;
  const others = {
    scheme: scheme?.toLowerCase(),
    query: escapeBytes(query, /[^!-~]/g),
    fragment: fragment.length < 2 ? '' : `#${escapePart(fragment.slice(1), FRAGMENT, VALID_FRAGMENT)}`,
  };
  if (scheme !== undefined && !hierarchy.startsWith('/')) return { ...others, host: '', path: hierarchy };
  if (scheme === undefined && /^[^/]*:/.test(hierarchy)) return undefined;
  const hasHost = hierarchy.startsWith('//') && (scheme !== undefined || !hierarchy.startsWith('///'));
  if (!hasHost) return { ...others, host: undefined, path: escapePart(hierarchy, PATH, VALID_PATH) };
  const [, authority = '', path = ''] = /^\/\/([^/]*)(.*)$/s.exec(hierarchy)!;
  if (hostnameOf(authority) === undefined || Number(AUTHORITY.exec(authority)![2] ?? 0) > MAX_PORT) return undefined;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return { ...others, host, path: escapePart(path, PATH, VALID_PATH) };
}

/** Returns a URL component unchanged if it is validly escaped; otherwise decodes it and escapes it again. */
function escapePart(part: ByteText, wrong: RegExp, valid: RegExp): string {
  if (valid.test(part)) return part;
  return escapeBytes(
    part.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    wrong,
  );
}

function escapeBytes(text: ByteText, wrong: RegExp): string {
  return text.replace(wrong, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** Removes `.` and `..` segments from a redirect target, as Go's resolvePath does (RFC 3986, 5.2). Handler paths are not normalized. */
function resolvePath(base: string, reference: string): string {
  const below = reference.startsWith('/') ? '' : base.slice(0, base.lastIndexOf('/') + 1);
  const full = reference === '' ? base : below + reference;
  if (full === '') return '';
  const given = full.split('/');
  let path = '/';
  let isFirst = true;
  for (const name of given) {
    if (name === '..') {
      path = path.slice(0, Math.max(1, path.lastIndexOf('/')));
      isFirst = path === '/';
      continue;
    }
    if (name !== '.') path += isFirst ? name : `/${name}`;
    isFirst = false;
  }
  if (['.', '..'].includes(given.at(-1)!)) path += '/';
  return path.replace(/^\/\//, '/');
}

function bytesOf(text: string): ByteText {
  return Buffer.from(text, 'utf8').toString('latin1');
}
