/**
 * Longest path of a unix socket: `sun_path` has 108 bytes, one of them the final NUL (unix(7)). Here by itself: commands need none of what
 * serves sockets.
 */
export const MAX_SOCKET_PATH_BYTES = 107;
