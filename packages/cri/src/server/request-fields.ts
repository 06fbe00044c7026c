import type { HeaderField } from '../http2/static-table.ts';

const PSEUDO = [':method', ':scheme', ':path', ':authority'];
const NEEDED = PSEUDO.slice(0, 3);

/**
 * Whether the fields are those of a request (RFC 9113, 8.2 and 8.3), but for `:authority`: what Go clients from before 2023 put there on
 * a unix socket, its path or nothing, is no authority, and nobody looks at it.
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
