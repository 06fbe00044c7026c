/** Maximum total size of the requests that the proxy holds for all clients. The same limit applies to responses. */
export const MAX_HELD_BYTES = 256 << 20;
