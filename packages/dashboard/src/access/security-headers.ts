/** Content Security Policy of the document, which only allows files from this server, and no inline code. */
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

/**
 * Content Security Policy of all other responses, which are data. Prevents browsers from running scripts in a response that is opened as a
 * document.
 */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

const SHARED = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Returns the security headers to send with every response. */
export function securityHeaders(kind: 'document' | 'data'): Record<string, string> {
  return { ...SHARED, 'content-security-policy': kind === 'document' ? DOCUMENT_POLICY : DATA_POLICY };
}
