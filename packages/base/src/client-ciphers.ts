/**
 * Returns the TLS ciphers to offer to untrusted servers: Node.js's defaults without finite-field Diffie-Hellman. With the latter, the
 * server chooses the group size, and 10,000 bits take a second of CPU time on the main thread. Go clients do not offer these ciphers
 * either.
 */
export function clientCiphers(): string {
  // load node:crypto lazily, because most commands do not use TLS
  return `${process.getBuiltinModule('node:crypto').constants.defaultCoreCipherList}:!kDHE`;
}
