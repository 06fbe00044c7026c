/** URLs of httpGet handlers and of redirects, as Go's net/url reads and writes them. Pure. */

/**
 * The query keeps its `?`, the fragment its `#`; a path may be empty. `host` has the port, as it was written; it is empty in
 * `file:///x`, and in `mailto:x`, whose path is `x`.
 */
export type CallUrl = { scheme: string; host: string; path: string; query: string; fragment: string };

/** Text of a byte a character. */
type ByteText = string;

const FRAGMENT = /[^-\w.~$&+,/:;=?@!()*]/g;
const PATH = /[^-\w.~$&+,/:;=@]/g;
/** What a path that is escaped already may have besides. */
const VALID_PATH = /^[-\w.~$&+,/:;=@!'()*[\]%]*$/;
const VALID_FRAGMENT = /^[-\w.~$&+,/:;=@!'()*[\]%?]*$/;
const WRONG_ESCAPE = /%(?![\da-f]{2})/i;
const AUTHORITY = /^(?:[^@]*@)?(\[[\da-f:.]+\]|[^\0-\x20#%/:?@[\\\]^`{|}\x7f]*)(?::(\d*))?$/i;
const MAX_PORT = 65_535;

/**
 * The URL of an httpGet handler on a `host` with its port. Only path, query and fragment of what the handler gives as `path`
 * count; what is no URL is the path as a whole. Undefined if the host is none.
 */
export function handlerUrl({ scheme, host }: { scheme: string; host: string }, path: string): CallUrl | undefined {
  if (hostnameOf(host) === undefined) return undefined;
  const text = bytesOf(path);
  const whole = { scheme: undefined, host: undefined, path: escapeBytes(text, PATH), query: '', fragment: '' };
  const given = parseReference(text) ?? whole;
  const isRooted = given.path === '' || given.path.startsWith('/');
  // as upstream, which finds no host in the URL `http:b` that it makes of `a:b`
  if (given.scheme !== undefined && given.host === '' && !isRooted) return { ...given, scheme };
  return { ...given, scheme, host, path: isRooted ? given.path : `/${given.path}` };
}

/** Where a Location header leads to, and whether it is an absolute URL; undefined if it cannot be read. */
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
  const kept = isSame ? { query: from.query, fragment: fragment || from.fragment } : { query, fragment };
  return { url: { ...from, path: resolvePath(from.path, path), ...kept }, isAbsolute };
}

/** What a request line asks for. */
export function requestTarget({ path, query }: CallUrl): string {
  return `${path || '/'}${query}`;
}

/** As messages show it, and the header field Referer. */
export function urlText({ scheme, host, path, query, fragment }: CallUrl): string {
  const authority = host === '' && !path.startsWith('/') ? '' : `//${host}`;
  return `${scheme}:${authority}${path}${query}${fragment}`;
}

/** Without port and brackets. */
export function hostnameOf(host: string): string | undefined {
  return AUTHORITY.exec(host)?.[1]?.replace(/^\[|\]$/g, '');
}

/** The port that is given, or that of the scheme. */
export function portOf({ scheme, host }: CallUrl): number {
  return Number(AUTHORITY.exec(host)?.[2] || (scheme === 'https' ? 443 : 80));
}

/** The parts of a reference. Undefined if it is no reference. */
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

/** Stays as it is written if it may be, else is escaped as a whole. */
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

/** Go's resolvePath, of RFC 3986, 5.2: only of what a redirect leads to are `.` and `..` taken out. */
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
