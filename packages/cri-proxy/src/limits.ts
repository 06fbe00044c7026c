/** Maximum number of bytes of the requests, and of the answers, that the proxy holds at the same time for all clients. */
export const MAX_HELD_BYTES = 256 << 20;
