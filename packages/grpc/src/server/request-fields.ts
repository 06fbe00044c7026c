import type { HeaderField } from '../http2/static-table.ts';

const PSEUDO = [':method', ':scheme', ':path', ':authority'];
const NEEDED = PSEUDO.slice(0, 3);

/**
 * Whether the header fields form a valid request (RFC 9113, 8.2 and 8.3). `:authority` is not checked: on a Unix socket, Go clients before
 * 2023 send the socket's path or an empty value, and this server does not use it.
 */
export function isRequest(fields: readonly HeaderField[]): boolean {
  const seen = new Set<string>();
  let areRegular = false;
  for (const [name] of fields) {
    const isPseudo = name.startsWith(':');
    if (isPseudo && (areRegular || seen.has(name) || !PSEUDO.includes(name))) return false;
    if (isPseudo) seen.add(name);
    areRegular ||= !isPseudo;
  }
  return NEEDED.every((name) => seen.has(name));
}
