/** What the document may load: only files of this server, and nothing inline. */
const DOCUMENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Other answers are data. A browser that shows one as a document runs nothing in it. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

const SHARED = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Headers of every answer of the server. */
export function securityHeaders(kind: 'document' | 'data'): Record<string, string> {
  return { ...SHARED, 'content-security-policy': kind === 'document' ? DOCUMENT_POLICY : DATA_POLICY };
}
