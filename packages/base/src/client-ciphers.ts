/**
 * Returns the TLS ciphers of clients of untrusted servers: Node.js' defaults without finite-field Diffie-Hellman. Such a server chooses the
 * size of the group: with 10,000 bits, a handshake takes a second of CPU time on the main thread. Go's clients offer no such ciphers either.
 */
export function clientCiphers(): string {
  // loaded on first use, because most commands use no TLS
  return `${process.getBuiltinModule('node:crypto').constants.defaultCoreCipherList}:!kDHE`;
}
