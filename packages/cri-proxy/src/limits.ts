/** Maximum number of bytes of requests that the proxy holds for all clients together. The same limit applies to answers. */
export const MAX_HELD_BYTES = 256 << 20;
