/** Maximum number of bytes that the proxy holds for all clients together: so many of requests, and as many of answers. */
export const MAX_HELD_BYTES = 256 << 20;
